// A simulation in the order of time: of all stages, the one whose next body can start first goes on.
#include "passes/Schedule/FillWeightGrads.h"

#include <algorithm>

namespace hocket::schedule {
namespace {

constexpr double unknown = -1;
constexpr double slack = 1e-9; // times are sums of doubles

struct StageState {
  size_t next = 0;        ///< of its order
  size_t weightGrads = 0; ///< that have run; backwards are taken from `backwards`
  std::vector<Step> backwards;
  double now = 0, first = unknown, held = 0;
};

class Filler {
public:
  Filler(const Problem &problem, const Orders &orders, const FillRules &rules)
      : problem(problem), orders(orders), rules(rules), stages(problem.stages),
        virtualStageOf(size_t(problem.stages) * problem.chunks),
        forwardEnd(size_t(problem.virtualStages()) * problem.microbatches, unknown), backwardEnd(forwardEnd) {
    for (uint32_t k = 0; k < problem.virtualStages(); ++k)
      virtualStageOf[problem.place(k).stage * problem.chunks + problem.place(k).chunk] = k;
    filled.orders.resize(problem.stages);
  }

  std::optional<Filled> run() {
    size_t left = 0;
    for (const std::vector<Step> &order : orders)
      for (const Step &step : order)
        left += step.kind == BodyKind::Backward ? 2 : 1;
    std::vector<std::optional<Choice>> choices(problem.stages);
    for (uint32_t s = 0; s < problem.stages; ++s)
      choices[s] = choose(s);
    for (; left; --left) {
      const std::optional<Choice> *best = nullptr;
      for (const std::optional<Choice> &choice : choices)
        if (choice && (!best || choice->before(**best)))
          best = &choice;
      if (!best)
        return std::nullopt;
      Choice done = **best;
      perform(done);
      // Only the stage itself and the neighbours of what it ran can see a difference.
      uint32_t k = virtualStage(done.stage, done.step);
      choices[done.stage] = choose(done.stage);
      if (k)
        choices[problem.place(k - 1).stage] = choose(problem.place(k - 1).stage);
      if (k + 1 < problem.virtualStages())
        choices[problem.place(k + 1).stage] = choose(problem.place(k + 1).stage);
    }
    for (const StageState &stage : stages) {
      filled.makespan = std::max(filled.makespan, stage.now);
      filled.stageSpan = std::max(filled.stageSpan, stage.now - std::max(stage.first, 0.0));
    }
    return std::move(filled);
  }

private:
  struct Choice {
    uint32_t stage;
    double start;
    Step step;
    bool before(const Choice &other) const {
      if (start != other.start)
        return start < other.start;
      return step.kind != BodyKind::WeightGrad && other.step.kind == BodyKind::WeightGrad;
    }
  };

  size_t at(uint32_t virtualStage, uint32_t microbatch) const {
    return size_t(virtualStage) * problem.microbatches + microbatch;
  }
  uint32_t virtualStage(uint32_t stage, const Step &step) const {
    return virtualStageOf[stage * problem.chunks + step.chunk];
  }

  /// When what virtual stage `from` makes is on `stage`.
  double arrival(uint32_t from, uint32_t stage, const std::vector<double> &ends, uint32_t microbatch) const {
    double end = ends[at(from, microbatch)];
    uint32_t sender = problem.place(from).stage;
    return end == unknown || sender == stage ? end : end + problem.timesOf(sender).communication;
  }

  /// When all that a forward or backward needs is there; unknown if that is not decided yet.
  double available(uint32_t stage, const Step &step) const {
    uint32_t k = virtualStage(stage, step);
    if (step.kind == BodyKind::Forward)
      return k ? arrival(k - 1, stage, forwardEnd, step.microbatch) : 0;
    double own = forwardEnd[at(k, step.microbatch)];
    if (k + 1 == problem.virtualStages() || own == unknown)
      return own;
    double gradient = arrival(k + 1, stage, backwardEnd, step.microbatch);
    return gradient == unknown ? unknown : std::max(own, gradient);
  }

  std::optional<Choice> choose(uint32_t s) const {
    const StageState &stage = stages[s];
    std::optional<Choice> next;
    if (stage.next < orders[s].size()) {
      const Step &step = orders[s][stage.next];
      bool full = step.kind == BodyKind::Forward && stage.held + 1 > rules.capacity + slack;
      if (double ready = available(s, step); !full && ready != unknown)
        next = Choice{s, std::max(stage.now, ready), step};
    }
    if (stage.weightGrads == stage.backwards.size())
      return next;
    double wait = rules.patience * problem.timesOf(s).weightGrad;
    if (next && next->start < stage.now + wait - slack)
      return next;
    Step step = stage.backwards[stage.weightGrads];
    return Choice{s, stage.now, {BodyKind::WeightGrad, step.chunk, step.microbatch}};
  }

  void perform(const Choice &choice) {
    StageState &stage = stages[choice.stage];
    const Step &step = choice.step;
    if (stage.first == unknown)
      stage.first = choice.start;
    stage.now = choice.start + problem.timesOf(choice.stage, step.chunk).of(step.kind);
    size_t place = at(virtualStage(choice.stage, step), step.microbatch);
    if (step.kind == BodyKind::WeightGrad) {
      ++stage.weightGrads;
      stage.held -= problem.heldForWeightGrad;
    } else if (step.kind == BodyKind::Forward) {
      ++stage.next;
      stage.held += 1;
      forwardEnd[place] = stage.now;
    } else {
      ++stage.next;
      stage.held -= 1 - problem.heldForWeightGrad;
      backwardEnd[place] = stage.now;
      stage.backwards.push_back(step);
    }
    filled.orders[choice.stage].push_back(step);
  }

  const Problem &problem;
  const Orders &orders;
  const FillRules &rules;
  std::vector<StageState> stages;
  std::vector<uint32_t> virtualStageOf;
  std::vector<double> forwardEnd, backwardEnd; // by virtual stage and microbatch
  Filled filled;
};

} // namespace

std::optional<Filled> fillWeightGrads(const Problem &problem, const Orders &orders, const FillRules &rules) {
  return Filler(problem, orders, rules).run();
}

} // namespace hocket::schedule
