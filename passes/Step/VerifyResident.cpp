// Communication kernels that a device keeps at work at a time, where the semantics state how many (nccl:R): messages
// beside a body and its collectives together. Bodies are the same on all ranks of a stage, but streams start what they
// are given when their turn comes: with fewer places than streams, ranks could fill theirs with kernels that wait for
// each other. That is so of a sum of the stream that computes as well: messages that wait for other stages can hold all
// places, and those stages wait for it. (Rows of messages alone are the judge's: their order of launch is known.)
//
// With a place for each, nothing stands still. Every call waits for calls that were issued before it alone, on its own
// rank and, as all who take part come to it in one order, on every other; so of those that are not done the first can
// be. That there is one order of all calls is proved of messages and of collectives that join stages
// (runtime/Program/IssueOrder.h, which says why the others need no proof).
#include "passes/Step/VerifyProgram.h"
#include "llvm/ADT/SetVector.h"
#include <set>
using namespace mlir;
using namespace hocket;
using namespace hocket::step;

namespace {
/// The most of one body: collectives on its streams, of each stream one at a time, and what it issues meanwhile itself.
struct Busiest {
  Operation *at = nullptr;
  SmallVector<StringAttr> streams;
  bool computes = false; ///< a collective on the stream that computes
  unsigned count() const { return streams.size() + computes; }
};

Busiest busiestOf(BodyOp body) {
  Busiest most;
  llvm::MapVector<StringAttr, std::pair<uint64_t, uint64_t>> streams; // started, awaited; transfers too
  llvm::SetVector<StringAttr> collectives;
  for (Operation &op : body.getBody().front()) {
    if (auto await = dyn_cast<AwaitOp>(op))
      streams[await.getStreamAttr()].second = std::max(streams[await.getStreamAttr()].second, await.getCount());
    else if (auto stream = op.getAttrOfType<StringAttr>("stream"))
      ++streams[stream].first;
    auto collective = dyn_cast<CollectiveOp>(op);
    if (!collective)
      continue;
    if (collective.getStreamAttr())
      collectives.insert(collective.getStreamAttr());
    Busiest now{&op, {}, !collective.getStreamAttr()};
    for (StringAttr stream : collectives)
      if (streams[stream].second < streams[stream].first)
        now.streams.push_back(stream);
    if (now.count() > most.count())
      most = now;
  }
  return most;
}

/// Messages of a stage that can be on their way together: no two of one stream, no two of one edge.
unsigned messagesOf(ProgramOp program) {
  size_t most = 0;
  for (auto schedule : program.ops<ScheduleOp>()) {
    TableAttr table = schedule.getTable();
    std::set<unsigned> streams;
    std::set<std::pair<uint64_t, uint64_t>> edges;
    for (const Row &row : table.getRows())
      if (row.kind != RowKind::Body) {
        streams.insert(row.stream);
        edges.insert({table.getMessages()[row.index].from, table.getMessages()[row.index].to});
      }
    most = std::max(most, std::min(streams.size(), edges.size()));
  }
  return most;
}

void verifyStage(VerifyContext &context, ProgramOp program) {
  Busiest most;
  for (auto body : program.ops<BodyOp>())
    if (Busiest found = busiestOf(body); found.count() > most.count())
      most = found;
  unsigned messages = messagesOf(program), all = messages + most.count(), stated = context.semantics.resident;
  if (!most.at || all <= stated)
    return;
  auto error = context.fault(most.at) << all << " communication kernels can be at work at a time: " << messages
                                      << (messages == 1 ? " message" : " messages") << " and collectives on ";
  llvm::interleaveComma(most.streams, error);
  if (most.computes)
    error << (most.streams.empty() ? "" : " and ") << "the stream that computes";
  error << "; " << schedule::name(context.semantics) << " states " << stated
        << ", and which of them start is not the same on all ranks";
  error.attachNote(program.getLoc()) << "legal: nccl:" << all << " or more"
                                     << (most.streams.empty() ? "" : ", or a plan that overlaps less");
}
} // namespace

void hocket::step::verifyResident(VerifyContext &context) {
  if (!context.semantics.nccl || context.semantics.resident == schedule::maxStreams)
    return;
  for (ProgramOp program : context.programs)
    verifyStage(context, program);
}
