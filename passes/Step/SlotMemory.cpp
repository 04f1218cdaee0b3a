// Busy times of slot buffers on the line of a microbatch's life, and first fit on them.
#include "passes/Step/SlotMemory.h"
#include "passes/Schedule/RowClocks.h"
#include "llvm/ADT/MapVector.h"
using namespace mlir;
using namespace hocket;
using namespace hocket::step;

namespace {
constexpr int64_t atEnd = INT64_MAX;

/// Where the gradient of a chunk may start to arrive, in every table and for every microbatch.
struct GradientStart {
  bool afterForward = true, afterSend = true;
};

/// By chunk. One without a sent activation has nothing to wait for.
SmallVector<GradientStart> gradientStarts(ProgramOp program, uint64_t chunks) {
  SmallVector<GradientStart> starts(chunks);
  for (auto schedule : program.ops<ScheduleOp>()) {
    TableAttr table = schedule.getTable();
    ArrayRef<Row> rows = table.getRows();
    schedule::RowClocks clocks(table.getRows());
    llvm::DenseMap<std::pair<uint64_t, uint32_t>, size_t> forward, sent; // by chunk, microbatch
    for (auto [i, row] : llvm::enumerate(rows)) {
      if (row.kind == RowKind::Body && row.index % kBodyKinds == static_cast<unsigned>(BodyKind::Forward))
        forward[{row.index / kBodyKinds, row.microbatch}] = i;
      else if (row.kind == RowKind::Send && table.getMessages()[row.index].values == Values::Activation)
        sent[{table.getMessages()[row.index].fromChunk, row.microbatch}] = i;
    }
    for (auto [i, row] : llvm::enumerate(rows)) {
      if (row.kind != RowKind::Receive || table.getMessages()[row.index].values != Values::Gradient)
        continue;
      uint64_t chunk = table.getMessages()[row.index].toChunk;
      if (chunk >= chunks)
        continue;
      auto follows = [&](auto &of) {
        auto it = of.find({chunk, row.microbatch});
        return it != of.end() && clocks.before(it->second, i);
      };
      starts[chunk].afterForward &= follows(forward);
      starts[chunk].afterSend &= follows(sent);
    }
  }
  return starts;
}

/// One line of positions of a chain, and when each buffer is busy on it.
class Line {
public:
  Line(ProgramOp program, ArrayRef<uint64_t> members, ArrayRef<GradientStart> gradients, Space space, bool finalBodies)
      : program(program), members(members), gradients(gradients), space(space), finalBodies(finalBodies) {
    for (uint64_t chunk : members)
      run(BodyKind::Forward, chunk);
    sentAt = next++;
    gradientAt = next++;
    for (uint64_t chunk : llvm::reverse(members)) {
      run(BodyKind::Recompute, chunk);
      run(last(BodyKind::Backward, BodyKind::FinalBackward, chunk), chunk);
      afterBackward[chunk] = next++;
    }
    sentGradientAt = next++;
    for (uint64_t chunk : members)
      runWeightGrad(last(BodyKind::WeightGrad, BodyKind::FinalWeightGrad, chunk), chunk);
    for (auto message : program.ops<MessageOp>())
      move(message);
  }
  BusyTime of(BufferOp buffer) const { return busy.lookup(buffer); }

private:
  BodyKind last(BodyKind kind, BodyKind final, uint64_t chunk) {
    return finalBodies && program.findBody(final, chunk) ? final : kind;
  }
  void touch(Value value, int64_t from, int64_t to) {
    if (auto buffer = value.getDefiningOp<BufferOp>(); buffer && buffer.getSpace() == space)
      busy[buffer].touch(from, to);
  }

  /// The places in the body at which its ops have surely finished.
  static llvm::DenseMap<Operation *, int64_t> ends(BodyOp body) {
    llvm::DenseMap<Operation *, int64_t> ends;
    llvm::StringMap<SmallVector<Operation *>> started;
    int64_t place = 0, size = std::distance(body.getBody().front().begin(), body.getBody().front().end());
    for (Operation &op : body.getBody().front()) {
      ends[&op] = place;
      if (auto stream = op.getAttrOfType<StringAttr>("stream"); stream && !isa<AwaitOp>(op)) {
        started[stream.getValue()].push_back(&op);
        ends[&op] = size;
      } else if (auto await = dyn_cast<AwaitOp>(op)) {
        for (Operation *done : ArrayRef(started[await.getStream()]).take_front(await.getCount()))
          ends[done] = std::min(ends[done], place);
      }
      ++place;
    }
    return ends;
  }

  void run(BodyKind kind, uint64_t chunk) {
    BodyOp body = program.findBody(kind, chunk);
    if (!body)
      return;
    int64_t begin = next, place = begin;
    auto end = ends(body);
    for (Operation &op : body.getBody().front()) {
      for (Value operand : op.getOperands())
        touch(operand, place, begin + end[&op]);
      ++place;
    }
    next = place + 1;
  }

  void runWeightGrad(BodyKind kind, uint64_t chunk) {
    if (members.size() == 1)
      return run(kind, chunk);
    if (BodyOp body = program.findBody(kind, chunk))
      for (Operation &op : body.getBody().front())
        for (Value operand : op.getOperands())
          touch(operand, afterBackward[chunk], atEnd);
  }

  void move(MessageOp message) {
    bool sends = message.getFrom() == program.getStage(), activation = message.getValues() == MessageValues::Activation;
    uint64_t chunk = sends ? message.getFromChunk() : message.getToChunk();
    if (!llvm::is_contained(members, chunk))
      return;
    const GradientStart &start = gradients[chunk];
    int64_t from = 0, to = atEnd;
    if (activation && !sends && chunk == members.front())
      to = 1;
    else if (!activation && sends && chunk == members.front())
      from = sentGradientAt;
    else if (activation && sends && chunk == members.back())
      std::tie(from, to) = std::pair(sentAt, start.afterSend ? sentAt : atEnd);
    else if (!activation && !sends && chunk == members.back())
      std::tie(from, to) = std::pair(!start.afterForward ? 0 : start.afterSend ? gradientAt : sentAt, gradientAt);
    for (Value buffer : message.getBuffers())
      touch(buffer, from, to);
  }

  ProgramOp program;
  ArrayRef<uint64_t> members;
  ArrayRef<GradientStart> gradients;
  Space space;
  bool finalBodies;
  int64_t next = 2, sentAt = 0, gradientAt = 0, sentGradientAt = 0; // 0: the beginning, 1: the activation is there
  llvm::DenseMap<uint64_t, int64_t> afterBackward;                  // by chunk
  llvm::DenseMap<Operation *, BusyTime> busy;
};

int64_t pack(ArrayRef<SlotBlock *> order) {
  int64_t top = 0;
  for (size_t i = 0; i < order.size(); ++i) {
    SmallVector<ByteRange> busy;
    for (SlotBlock *other : order.take_front(i))
      if (order[i]->meets(*other))
        busy.push_back({other->offset, other->offset + other->bytes});
    order[i]->offset = firstFit(busy, order[i]->bytes);
    top = std::max(top, order[i]->offset + order[i]->bytes);
  }
  return top;
}
} // namespace

SlotMemory::SlotMemory(ProgramOp program, Space space) : program(program), chains(program), space(space) {}

/// A value that this stage gets in one message and hands on in another lies beside other values in each; where the two
/// orders differ there is no place for it.
static LogicalResult refuseHandedOn(MessageOp message, BufferOp handedOn, BufferOp beside) {
  bool gradient = message.getValues() == MessageValues::Gradient;
  auto error =
      handedOn.emitError() << "'" << handedOn.getName() << "' goes over several cuts between stages: stage "
                           << message->getParentOfType<ProgramOp>().getStage()
                           << " gets it in one message and hands it on in another, and cannot hold it beside all "
                              "that it is sent with; expected a value "
                           << (gradient ? "of the stage before" : "used no further than on the next stage");
  error.attachNote(message.getLoc()) << "sent with '" << beside.getName() << "' as " << message.getText();
  return failure();
}

/// Buffers of one message, and of others that share one with it, are a block.
LogicalResult SlotMemory::makeBlocks() {
  SmallVector<SlotBlock> blocks;
  llvm::DenseMap<Operation *, std::pair<unsigned, int64_t>> placeOf; // block, offset in it
  auto append = [&](unsigned block, BufferOp buffer) {
    placeOf[buffer] = {block, blocks[block].bytes};
    blocks[block].buffers.push_back(buffer);
    blocks[block].bytes += aligned(buffer.getBytes());
  };
  for (auto message : program.ops<MessageOp>()) {
    auto buffers = llvm::map_to_vector(message.getBuffers(), [](Value v) { return v.getDefiningOp<BufferOp>(); });
    if (buffers.front().getSpace() != space)
      continue;
    auto known = llvm::find_if(buffers, [&](BufferOp buffer) { return placeOf.contains(buffer); });
    unsigned block = known == buffers.end() ? blocks.size() : placeOf[*known].first;
    if (known == buffers.end())
      blocks.emplace_back();
    auto handedOn = known == buffers.end() ? BufferOp() : *known;
    for (BufferOp buffer : buffers)
      if (!placeOf.contains(buffer))
        append(block, buffer);
    for (auto [a, b] : llvm::zip(buffers, llvm::drop_begin(buffers)))
      if (placeOf[b] != std::pair(placeOf[a].first, placeOf[a].second + aligned(a.getBytes())))
        return refuseHandedOn(message, handedOn ? handedOn : a, handedOn == a || !handedOn ? b : a);
  }
  for (auto buffer : program.ops<BufferOp>())
    if (buffer.getSpace() == space && !placeOf.contains(buffer)) {
      blocks.emplace_back();
      append(blocks.size() - 1, buffer);
    }
  for (SlotBlock &block : blocks)
    blocksOf[chains.chainOf(block.buffers.front())].push_back(std::move(block));
  return success();
}

/// The position of a line at which most bytes are busy, if that is more than any before.
void SlotMemory::findBusiest(ArrayRef<SlotBlock> blocks, unsigned line) {
  SmallVector<std::pair<int64_t, int64_t>> changes; // position, bytes: what ends makes room before what begins
  for (const SlotBlock &block : blocks)
    if (block.busy[line].first >= 0) {
      changes.push_back({block.busy[line].first, block.bytes});
      if (block.busy[line].last < atEnd)
        changes.push_back({block.busy[line].last + 1, -block.bytes});
    }
  llvm::sort(changes);
  int64_t now = 0, at = -1;
  for (auto [position, bytes] : changes)
    if ((now += bytes) > busyBytes)
      std::tie(busyBytes, at) = std::pair(now, position);
  if (at < 0)
    return;
  busiest.clear();
  for (const SlotBlock &block : blocks)
    if (block.busy[line].first >= 0 && block.busy[line].first <= at && at <= block.busy[line].last)
      busiest.append(block.buffers.begin(), block.buffers.end());
}

LogicalResult SlotMemory::measure() {
  if (failed(makeBlocks()))
    return failure();
  auto starts = gradientStarts(program, chains.chunks());
  bool finalBodies = llvm::any_of(program.ops<BodyOp>(), [](BodyOp body) {
    return body.getKind() == BodyKind::FinalBackward || body.getKind() == BodyKind::FinalWeightGrad;
  });
  for (auto &[head, blocks] : blocksOf) {
    SmallVector<uint64_t> members;
    for (uint64_t chunk = head; chunk < chains.chunks(); ++chunk)
      if (chains.head(chunk) == head)
        members.push_back(chunk);
    for (unsigned which = 0; which < (finalBodies ? 2u : 1u); ++which) {
      Line line(program, members, starts, space, which == 1);
      for (SlotBlock &block : blocks)
        for (BufferOp buffer : block.buffers)
          if (BusyTime time = line.of(buffer); time.first >= 0)
            block.busy[which].touch(time.first, time.last);
      findBusiest(blocks, which);
    }
    int64_t unshared = 0;
    for (SlotBlock &block : blocks)
      unshared += block.bytes;
    unsharedBytes = std::max(unsharedBytes, unshared);
  }
  return success();
}

void SlotMemory::placeChain(MutableArrayRef<SlotBlock> blocks) {
  auto byBirth = llvm::map_to_vector(blocks, [](SlotBlock &block) { return &block; });
  llvm::sort(byBirth, [](SlotBlock *a, SlotBlock *b) {
    return std::pair(a->busy[0].first, a) < std::pair(b->busy[0].first, b);
  });
  SmallVector<SlotBlock *> bySize(byBirth);
  llvm::sort(bySize, [](SlotBlock *a, SlotBlock *b) { return std::pair(-a->bytes, a) < std::pair(-b->bytes, b); });
  int64_t most = pack(bySize), other = pack(byBirth);
  if (most <= other)
    pack(bySize);
  slotBytes = std::max(slotBytes, std::min(most, other));
  for (SlotBlock &block : blocks) {
    int64_t offset = block.offset;
    for (BufferOp buffer : block.buffers) {
      buffer.setOffset(offset);
      offset += aligned(buffer.getBytes());
    }
  }
}

void SlotMemory::place() {
  for (auto &[head, blocks] : blocksOf)
    placeChain(blocks);
}

/// Those that overlap or touch become one. A schedule may leave thousands open, most of them over the same bytes.
static void join(SmallVector<ByteRange> &ranges) {
  llvm::sort(ranges, [](const ByteRange &a, const ByteRange &b) { return a.begin < b.begin; });
  SmallVector<ByteRange> joined;
  for (const ByteRange &range : ranges) {
    if (joined.empty() || joined.back().end < range.begin)
      joined.push_back(range);
    else
      joined.back().end = std::max(joined.back().end, range.end);
  }
  ranges = std::move(joined);
}

SmallVector<ByteRange> hocket::step::slotsBusyInUpdate(ProgramOp program) {
  int64_t slots = program.getSlotsOffset().value_or(0), size = program.getSlotBytes().value_or(0);
  SmallVector<ByteRange> busy;
  for (auto schedule : program.ops<ScheduleOp>()) {
    TableAttr table = schedule.getTable();
    ArrayRef<Row> rows = table.getRows();
    auto isUpdate = [](const Row &row) {
      return row.kind == RowKind::Body && row.index % kBodyKinds == static_cast<unsigned>(BodyKind::Update);
    };
    const Row *update = llvm::find_if(rows, isUpdate);
    if (update == rows.end())
      continue;
    SmallVector<ByteRange> inSlot; // by message of the table; all of a slot for one that the program does not have
    for (const Message &each : table.getMessages()) {
      inSlot.push_back({0, size});
      if (MessageOp message = program.findMessage(each)) {
        int64_t begin = *message.getBuffers().front().getDefiningOp<BufferOp>().getOffset();
        inSlot.back() = {begin, begin + aligned(message.getBytes())};
      }
    }
    schedule::RowClocks clocks(table.getRows());
    for (auto [i, row] : llvm::enumerate(rows)) {
      bool once = row.kind == RowKind::Body && runsOnce(static_cast<BodyKind>(row.index % kBodyKinds));
      if (once || clocks.before(i, update - rows.begin()))
        continue;
      ByteRange bytes = row.kind == RowKind::Body ? ByteRange{0, size} : inSlot[row.index];
      busy.push_back({slots + row.slot * size + bytes.begin, slots + row.slot * size + bytes.end});
    }
  }
  join(busy);
  return busy;
}
