// Streams of bodies: between the start of an op and the await that says it has finished, nobody writes what it reads or
// touches what it writes. Looks at byte ranges alone, and knows nothing of how memory was planned.
#include "passes/Step/VerifyProgram.h"
#include "llvm/ADT/MapVector.h"
using namespace mlir;
using namespace hocket;
using namespace hocket::step;

namespace {
/// Bytes of one space.
struct Bytes {
  Value buffer;
  Space space;
  int64_t begin, end;
  bool meets(const Bytes &other) const { return space == other.space && begin < other.end && other.begin < end; }
};
SmallVector<Bytes> bytesOf(ArrayRef<Value> values) {
  SmallVector<Bytes> all;
  for (Value value : values)
    if (auto buffer = value.getDefiningOp<BufferOp>(); buffer && buffer.getOffset()) {
      int64_t begin = *buffer.getOffset();
      all.push_back({value, buffer.getSpace(), begin, begin + buffer.getBytes()});
    }
  return all;
}
StringRef nameOf(Value buffer) { return buffer.getDefiningOp<BufferOp>().getName(); }

/// Null for the stream that computes.
StringAttr streamOf(Operation *op) {
  if (auto collective = dyn_cast<CollectiveOp>(op))
    return collective.getStreamAttr();
  if (auto transfer = dyn_cast<TransferOp>(op))
    return transfer.getStreamAttr();
  return {};
}

class BodyStreams {
public:
  BodyStreams(VerifyContext &context, BodyOp body) : context(context), body(body) {}

  void verify() {
    for (Operation &op : body.getBody().front())
      if (auto await = dyn_cast<AwaitOp>(op))
        finish(await);
      else
        visit(&op);
    for (auto &[name, stream] : streams)
      if (stream.awaited < stream.ops.size()) {
        Operation *open = stream.ops[stream.awaited];
        auto error = context.fault(open) << sayWork(open) << " on stream " << name
                                         << " is not awaited before the body ends; "
                                         << stream.ops.size() - stream.awaited << " of " << stream.ops.size()
                                         << " ops there are not";
        error.attachNote(body.getLoc()) << "the body is here";
      }
  }

private:
  struct Stream {
    SmallVector<Operation *> ops;
    size_t awaited = 0;
  };

  void finish(AwaitOp await) {
    Stream &stream = streams[await.getStreamAttr()];
    if (await.getCount() > stream.ops.size()) {
      auto error = context.fault(await) << "awaits " << await.getCount() << " ops on stream " << await.getStreamAttr()
                                        << ", of which " << stream.ops.size() << " have been started";
      if (!stream.ops.empty())
        error.attachNote(stream.ops.back()->getLoc()) << "the last one starts here";
    }
    stream.awaited = std::max(stream.awaited, std::min<size_t>(await.getCount(), stream.ops.size()));
  }

  void visit(Operation *op) {
    StringAttr own = streamOf(op);
    SmallVector<Bytes> reads = bytesOf(readsOf(op)), writes = bytesOf(writesOf(op));
    for (auto &[name, stream] : streams)
      if (name != own)
        for (Operation *running : ArrayRef(stream.ops).drop_front(stream.awaited))
          apart(op, reads, writes, running, name);
    if (!own)
      return;
    if (auto collective = dyn_cast<CollectiveOp>(op); collective && context.spansStages(collective))
      context.fault(op) << sayWork(op) << " joins stages on stream " << own
                        << "; what joins stages is done by the stream that computes";
    streams[own].ops.push_back(op);
  }

  void apart(Operation *op, ArrayRef<Bytes> reads, ArrayRef<Bytes> writes, Operation *running, StringAttr stream) {
    SmallVector<Bytes> runningReads = bytesOf(readsOf(running)), runningWrites = bytesOf(writesOf(running));
    auto against = [&](ArrayRef<Bytes> mine, StringRef does, ArrayRef<Bytes> theirs, StringRef what) {
      for (const Bytes &a : mine)
        for (const Bytes &b : theirs)
          if (a.meets(b)) {
            auto error = context.fault(op)
                         << sayWork(op) << ' ' << does << " '" << nameOf(a.buffer) << "', of which " << sayWork(running)
                         << " on stream " << stream << ' ' << what << " '" << nameOf(b.buffer) << "' at bytes "
                         << std::max(a.begin, b.begin) << " to " << std::min(a.end, b.end) - 1 << " and is not awaited";
            error.attachNote(running->getLoc()) << "started here";
            return true;
          }
      return false;
    };
    if (against(writes, "writes", runningReads, "may still read") ||
        against(writes, "writes", runningWrites, "may still write"))
      return;
    against(reads, "reads", runningWrites, "may still write");
  }

  VerifyContext &context;
  BodyOp body;
  llvm::MapVector<StringAttr, Stream> streams;
};
} // namespace

void hocket::step::verifyStreams(VerifyContext &context) {
  for (ProgramOp program : context.programs)
    for (auto body : program.ops<BodyOp>())
      BodyStreams(context, body).verify();
}
