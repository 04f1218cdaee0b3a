// The order of rows of a program for "cuda", in which its calls of NCCL are issued: see IssueOrder.h. Knows nothing of
// how the order was found.
#include "runtime/Program/Check.h"
#include "runtime/Program/OpKinds.h"
#include <algorithm>
#include <map>

namespace hocket::program {
namespace {
// A call on a communicator that several stages share.
struct Call {
  uint32_t communicator, row;
};
struct StageCalls {
  std::vector<Call> calls;
  size_t issued = 0;
  bool left() const { return issued < calls.size(); }
};

class CircleCheck {
public:
  CircleCheck(CheckContext &context, const std::string &entry) : context(context), entry(entry) {
    for (const RankProgram *rank : *context.program.ranks())
      stages.push_back({callsOf(*rank, *findEntry(*rank, entry))});
  }

  // Issues every call as soon as all who take part have nothing before it; what is left is in a circle or behind one.
  void run() {
    std::vector<uint32_t> toSee(stages.size());
    for (uint32_t s = 0; s < stages.size(); ++s)
      toSee[s] = s;
    while (!toSee.empty()) {
      uint32_t stage = toSee.back();
      toSee.pop_back();
      if (!stages[stage].left() || !allAt(next(stage).communicator))
        continue;
      for (uint32_t member : membersOf(next(stage).communicator)) {
        ++stages[member].issued;
        toSee.push_back(member);
      }
    }
    for (uint32_t s = 0; s < stages.size(); ++s)
      if (stages[s].left())
        return tellCircle(s);
  }

private:
  // Those that other stages take part in: the others can be in no circle that these are not in.
  std::vector<Call> callsOf(const RankProgram &rank, const Entry &from) const {
    std::vector<Call> calls;
    for (uint32_t i = 0; i < from.rows()->size(); ++i) {
      const Row &row = *from.rows()->Get(i);
      if (row.kind() != RowKind::Body)
        calls.push_back({rank.messages()->Get(row.index())->communicator(), i});
      else
        for (uint32_t communicator : crossingCollectives(context.program, *rank.bodies()->Get(row.index())))
          calls.push_back({communicator, i});
    }
    return calls;
  }

  const Call &next(uint32_t stage) const { return stages[stage].calls[stages[stage].issued]; }

  const std::vector<uint32_t> &membersOf(uint32_t communicator) {
    auto [at, fresh] = members.try_emplace(communicator);
    for (uint32_t s = 0; fresh && s < stages.size(); ++s)
      if (memberCount(context.program, *context.program.communicators()->Get(communicator), s))
        at->second.push_back(s);
    return at->second;
  }

  // One who takes part and is not at a call on it; -1: none.
  int64_t notAt(uint32_t communicator) {
    for (uint32_t member : membersOf(communicator))
      if (!stages[member].left() || next(member).communicator != communicator)
        return member;
    return -1;
  }
  bool allAt(uint32_t communicator) { return notAt(communicator) < 0; }

  std::string text(uint32_t communicator) const {
    return fmt::format("'{}'", context.program.communicators()->Get(communicator)->name()->str());
  }

  // From call to the one that keeps it from being issued, until one comes again.
  void tellCircle(uint32_t stage) {
    std::vector<uint32_t> path;
    while (std::find(path.begin(), path.end(), stage) == path.end()) {
      path.push_back(stage);
      int64_t other = notAt(next(stage).communicator);
      if (other < 0 || !stages[static_cast<uint32_t>(other)].left())
        return; // calls of one communicator do not match: checkAcrossStages
      stage = static_cast<uint32_t>(other);
    }
    std::string circle;
    for (size_t i = static_cast<size_t>(std::find(path.begin(), path.end(), stage) - path.begin()); i < path.size();
         ++i) {
      uint32_t from = path[i], to = i + 1 < path.size() ? path[i + 1] : stage;
      circle += fmt::format("{}stage {} issues the call of row {} on {} before that on {}", circle.empty() ? "" : ", ",
                            to, next(to).row, text(next(to).communicator), text(next(from).communicator));
    }
    context.fault("entry '{}': the order in which calls are issued is a circle: {}", entry, circle);
  }

  CheckContext &context;
  const std::string &entry;
  std::vector<StageCalls> stages;
  std::map<uint32_t, std::vector<uint32_t>> members;
};
} // namespace

static bool checkWaitsAbove(CheckContext &context, const RankProgram &rank, const Entry &entry) {
  std::vector<uint32_t> above(entry.streams()->size());
  for (uint32_t i = 0; i < entry.rows()->size(); ++i) {
    const Row &row = *entry.rows()->Get(i);
    for (uint32_t stream = 0; stream < above.size(); ++stream)
      if (uint32_t wait = row.wait()->Get(stream); wait > above[stream]) {
        context.fault(
            "stage {} entry '{}' row {}: waits for {} rows of stream {}, {} of which stand above; the rows of a "
            "program for cuda are issued as they stand",
            rank.stage(), entry.name()->str(), i, wait, stream, above[stream]);
        return false;
      }
    ++above[row.stream()];
  }
  return true;
}

void checkIssueOrder(CheckContext &context) {
  if (context.program.target()->string_view() != "cuda")
    return;
  const RankProgram &first = *context.program.ranks()->Get(0);
  for (const Entry *entry : *first.entries()) {
    bool above = true;
    for (const RankProgram *rank : *context.program.ranks())
      above &= checkWaitsAbove(context, *rank, *findEntry(*rank, entry->name()->string_view()));
    std::string name = entry->name()->str();
    if (above)
      CircleCheck(context, name).run();
  }
}

} // namespace hocket::program
