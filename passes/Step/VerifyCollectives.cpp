// Collectives that join stages: the same ones in the same order on all members, and no order that waits for itself.
#include "passes/Step/VerifyProgram.h"
#include "llvm/ADT/MapVector.h"
using namespace mlir;
using namespace hocket;
using namespace hocket::step;

bool VerifyContext::spansStages(CollectiveOp collective) const {
  return stageAxis &&
         llvm::any_of(collective.getAxes().getRefs(), [&](const dist::AxisRef &ref) { return ref.name == stageAxis; });
}

SmallVector<unsigned> VerifyContext::members(CollectiveOp collective) const {
  SmallVector<unsigned> stages;
  if (auto list = collective.getStages()) {
    for (int64_t stage : *list)
      if (stage >= 0 && stage < static_cast<int64_t>(programs.size()))
        stages.push_back(stage);
    return stages;
  }
  for (unsigned stage = 0; stage < programs.size(); ++stage)
    stages.push_back(stage);
  return stages;
}

static std::string groupText(CollectiveOp collective) {
  std::string text = "over " + dist::axesText(collective.getAxes().getRefs());
  if (auto list = collective.getStages()) {
    text += " at stages";
    for (int64_t stage : *list)
      text += " " + std::to_string(stage);
  }
  return text;
}

static std::string sayCollective(CollectiveOp collective) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << stringifyCollectiveKind(collective.getKind());
  if (collective.getKind() == CollectiveKind::AllReduce || collective.getKind() == CollectiveKind::ReduceScatter)
    os << ' ' << dist::stringifyReduction(collective.getReduction());
  auto type = cast<ShapedType>(collective.getInput().getType());
  os << " of " << byteSize(type) << " bytes of " << type.getElementType();
  if (StringRef path = nn::getPath(collective); !path.empty())
    os << " for " << path;
  return text;
}

namespace {
struct BodyCollectives {
  explicit BodyCollectives(VerifyContext &context) : context(context), ofStage(context.programs.size()) {}

  VerifyContext &context;
  std::vector<SmallVector<CollectiveOp>> ofStage; // in the order of the body, those that join stages

  using Groups = llvm::MapVector<StringRef, std::vector<SmallVector<CollectiveOp>>>;
  llvm::BumpPtrAllocator memory;
  llvm::StringSaver names{memory};

  Groups byGroup() {
    Groups groups;
    for (auto [stage, list] : llvm::enumerate(ofStage))
      for (CollectiveOp collective : list) {
        std::string text = groupText(collective);
        auto it = groups.find(text);
        if (it == groups.end())
          it = groups.insert({names.save(text), std::vector<SmallVector<CollectiveOp>>(ofStage.size())}).first;
        it->second[stage].push_back(collective);
      }
    return groups;
  }

  /// Members issue the same; true if all do.
  bool compare(StringRef group, ArrayRef<SmallVector<CollectiveOp>> stages, BodyKind kind) {
    CollectiveOp any;
    for (auto &list : stages)
      any = list.empty() ? any : list.front();
    SmallVector<unsigned> members = context.members(any);
    bool same = true;
    for (auto [stage, list] : llvm::enumerate(stages))
      if (!list.empty() && !llvm::is_contained(members, stage)) {
        context.fault(list.front()) << sayCollective(list.front()) << ' ' << group << ", which is not of them";
        same = false;
      }
    for (unsigned stage : ArrayRef(members).drop_front())
      same &= compareTwo(group, stages[members.front()], members.front(), stages[stage], stage, kind);
    return same;
  }

  bool compareTwo(StringRef group, ArrayRef<CollectiveOp> a, unsigned first, ArrayRef<CollectiveOp> b, unsigned second,
                  BodyKind kind) {
    for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
      CollectiveOp one = a[i], two = b[i];
      bool same = one.getKind() == two.getKind() && one.getReduction() == two.getReduction() &&
                  one.getInput().getType() == two.getInput().getType();
      if (same)
        continue;
      auto error = context.fault(two) << "collective " << i << ' ' << group << " is " << sayCollective(two)
                                      << ", on stage " << first << " it is " << sayCollective(one);
      error.attachNote(one.getLoc()) << "issued here by stage " << first;
      return false;
    }
    if (a.size() == b.size())
      return true;
    auto [more, less] = a.size() > b.size() ? std::pair(a, b) : std::pair(b, a);
    unsigned lessStage = a.size() > b.size() ? second : first;
    CollectiveOp lonely = more[less.size()];
    auto error = context.fault(lonely) << sayCollective(lonely) << ' ' << group << " is never issued by stage "
                                       << lessStage << ", which issues " << less.size() << " of " << more.size()
                                       << " in " << stringifyBodyKind(kind);
    error.attachNote(context.programs[lessStage].getLoc()) << "stage " << lessStage << " is here";
    return false;
  }

  /// Runs all stages' lists at once: each waits at its next collective until all members stand at the same.
  void findDeadlock() {
    std::vector<size_t> at(ofStage.size());
    auto head = [&](unsigned stage) {
      return at[stage] < ofStage[stage].size() ? ofStage[stage][at[stage]] : CollectiveOp();
    };
    for (bool moved = true; moved;) {
      moved = false;
      for (unsigned stage = 0; stage < ofStage.size(); ++stage) {
        CollectiveOp next = head(stage);
        if (!next)
          continue;
        SmallVector<unsigned> members = context.members(next);
        bool all = llvm::all_of(members, [&](unsigned s) { return head(s) && groupText(head(s)) == groupText(next); });
        for (unsigned s : members)
          at[s] += all;
        moved |= all;
      }
    }
    for (unsigned stage = 0; stage < ofStage.size(); ++stage)
      if (head(stage))
        return reportCycle(stage, head);
  }

  /// From a stage that waits to one that it waits for, until one comes again.
  void reportCycle(unsigned stage, llvm::function_ref<CollectiveOp(unsigned)> head) {
    SmallVector<unsigned> way;
    while (!llvm::is_contained(way, stage)) {
      way.push_back(stage);
      CollectiveOp next = head(stage);
      for (unsigned member : context.members(next))
        if (head(member) && groupText(head(member)) != groupText(next)) {
          stage = member;
          break;
        }
    }
    way.erase(way.begin(), llvm::find(way, stage));
    CollectiveOp first = head(way.front());
    auto error = context.fault(first) << "deadlock: " << way.size() << " stages wait for each other in collectives";
    for (auto [i, from] : llvm::enumerate(way))
      error.attachNote(head(from).getLoc()) << "stage " << from << " waits in " << sayCollective(head(from)) << ' '
                                            << groupText(head(from)) << " for stage " << way[(i + 1) % way.size()];
  }
};
} // namespace

void hocket::step::verifyCollectives(VerifyContext &context) {
  for (BodyKind kind :
       {BodyKind::Begin, BodyKind::Forward, BodyKind::Backward, BodyKind::WeightGrad, BodyKind::Recompute,
        BodyKind::Update, BodyKind::Evaluate, BodyKind::FinalBackward, BodyKind::FinalWeightGrad}) {
    BodyCollectives collectives(context);
    for (auto [stage, program] : llvm::enumerate(context.programs))
      for (auto body : program.ops<BodyOp>())
        if (body.getKind() == kind)
          for (auto collective : body.getBody().front().getOps<CollectiveOp>())
            if (context.spansStages(collective))
              collectives.ofStage[stage].push_back(collective);
    if (!runsOnce(kind)) {
      for (auto &list : collectives.ofStage)
        for (CollectiveOp collective : list)
          context.fault(collective) << sayWork(collective)
                                    << " joins stages, which run their microbatches at different times; "
                                    << "legal in begin, update and evaluate";
      continue;
    }
    bool same = true;
    for (auto &[group, stages] : collectives.byGroup())
      same &= collectives.compare(group, stages, kind);
    if (same)
      collectives.findDeadlock();
  }
}
