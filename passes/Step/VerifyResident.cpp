// Communication kernels that a device keeps at work at a time, where the semantics state how many (nccl:R): messages
// beside a body and its collectives together. Bodies are the same on all ranks of a stage, but streams start what they
// are given when their turn comes: with fewer places than streams, ranks could fill theirs with kernels that wait for
// each other. That is so of a sum of the stream that computes as well: messages that wait for other stages can hold all
// places, and those stages wait for it. (Rows of messages alone are the judge's: their order of launch is known.)
//
// With a place for each that can be at work, nothing stands still. Every call waits for calls that were issued before it alone, on its own
// rank and, as all who take part come to it in one order, on every other; so of those that are not done the first can
// be. That there is one order of all calls is proved of messages and of collectives that join stages
// (runtime/Program/IssueOrder.h, which says why the others need no proof).
#include "passes/Step/StageOrder.h"
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

/// Messages that can be on their way while a row of a body runs: of each stream the one at hand, unless the stage's rows
/// say that it is over, or has not begun, or that it waits for another of them; and no two of one edge.
class MessagesBeside {
public:
  MessagesBeside(ProgramOp program, TableAttr table) : order(program.getStage(), table) {
    llvm::MapVector<uint32_t, SmallVector<size_t>> rows; // by stream
    std::set<std::pair<uint64_t, uint64_t>> ends;
    for (auto [at, row] : llvm::enumerate(table.getRows()))
      if (row.kind != RowKind::Body) {
        rows[row.stream].push_back(at);
        ends.insert({table.getMessages()[row.index].from, table.getMessages()[row.index].to});
      }
    streams = rows.takeVector();
    edges = ends.size();
  }

  unsigned most() const { return std::min<size_t>(streams.size(), edges); }
  unsigned beside(size_t body) const {
    unsigned found = 0;
    for (unsigned some = 1; some < 1u << streams.size() && found < most(); ++some)
      if (unsigned count = llvm::popcount(some); count > found && together(some, body))
        found = count;
    return std::min(found, most());
  }

private:
  /// Looks for the first of each of these streams that is not over; what another of them waits for is.
  bool together(unsigned some, size_t body) const {
    SmallVector<ArrayRef<size_t>> left;
    for (auto [at, stream] : llvm::enumerate(streams))
      if (some >> at & 1)
        left.push_back(ArrayRef(stream.second).drop_front(overBefore(stream.second, body)));
    for (bool moved = true; moved;) {
      moved = false;
      for (ArrayRef<size_t> &own : left) {
        if (own.empty())
          return false;
        moved |= llvm::any_of(
            left, [&](ArrayRef<size_t> other) { return !other.empty() && order.before(own.front(), other.front()); });
        if (moved) {
          own = own.drop_front();
          break;
        }
      }
    }
    return llvm::none_of(left, [&](ArrayRef<size_t> own) { return order.before(body, own.front()); });
  }
  size_t overBefore(ArrayRef<size_t> stream, size_t body) const {
    return llvm::partition_point(stream, [&](size_t row) { return order.before(row, body); }) - stream.begin();
  }

  StageOrder order;
  SmallVector<std::pair<uint32_t, SmallVector<size_t>>, 0> streams;
  size_t edges = 0;
};

/// Of all rows the one with most at work.
struct AtWork {
  Busiest body;
  unsigned messages = 0;
  unsigned count() const { return messages + body.count(); }
};

AtWork mostAtWork(ProgramOp program) {
  AtWork most;
  llvm::DenseMap<BodyOp, Busiest> known;
  for (auto body : program.ops<BodyOp>())
    known[body] = busiestOf(body);
  for (auto schedule : program.ops<ScheduleOp>()) {
    MessagesBeside messages(program, schedule.getTable());
    for (auto [at, row] : llvm::enumerate(schedule.getTable().getRows())) {
      if (row.kind != RowKind::Body)
        continue;
      Busiest body = known.lookup(
          program.findBody(static_cast<BodyKind>(row.index % kBodyKinds), row.index / kBodyKinds)); // none: told
      if (body.at && body.count() + messages.most() > most.count())
        if (AtWork here{body, messages.beside(at)}; here.count() > most.count())
          most = here;
    }
  }
  return most;
}

void verifyStage(VerifyContext &context, ProgramOp program) {
  AtWork most = mostAtWork(program);
  unsigned all = most.count(), stated = context.semantics.resident;
  if (!most.body.at || all <= stated)
    return;
  auto error = context.fault(most.body.at)
               << all << " communication kernels can be at work at a time: " << most.messages
               << (most.messages == 1 ? " message" : " messages") << " and collectives on ";
  llvm::interleaveComma(most.body.streams, error);
  if (most.body.computes)
    error << (most.body.streams.empty() ? "" : " and ") << "the stream that computes";
  error << "; " << schedule::name(context.semantics) << " states " << stated
        << ", and which of them start is not the same on all ranks";
  error.attachNote(program.getLoc()) << "legal: nccl:" << all << " or more"
                                     << (most.body.streams.empty() ? "" : ", or a plan that overlaps less");
}
} // namespace

void hocket::step::verifyResident(VerifyContext &context) {
  if (!context.semantics.nccl || context.semantics.resident == schedule::maxStreams)
    return;
  for (ProgramOp program : context.programs)
    verifyStage(context, program);
}
