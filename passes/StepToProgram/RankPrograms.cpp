// Buffers, bodies, messages, schedules, state, inputs and outputs of one stage.
#include "passes/StepToProgram/RankPrograms.h"
#include "passes/Step/SlotMemory.h"
#include "passes/StepToProgram/GpuKernels.h"
#include "llvm/ADT/StringSwitch.h"
using namespace mlir;
using namespace hocket;
using namespace hocket::step;

program::DType hocket::step::convertType(Type type) {
  if (type.isF64())
    return program::DType::F64;
  if (type.isBF16())
    return program::DType::BF16;
  if (type.isF16())
    return program::DType::F16;
  if (type.isInteger(64))
    return program::DType::I64;
  return type.isInteger(32) ? program::DType::I32 : program::DType::F32;
}

static program::Buffer convertBuffer(Value value) {
  auto buffer = value.getDefiningOp<BufferOp>();
  return program::Buffer(static_cast<program::Space>(buffer.getSpace()), *buffer.getOffset(),
                         byteSize(cast<MemRefType>(buffer.getBuffer().getType())));
}

/// Of a slot that lives from step to step.
static program::StateKind stateKind(nn::SlotKind kind) {
  switch (kind) {
  case nn::SlotKind::FirstMoment:
    return program::StateKind::FirstMoment;
  case nn::SlotKind::SecondMoment:
    return program::StateKind::SecondMoment;
  case nn::SlotKind::Master:
    return program::StateKind::Master;
  case nn::SlotKind::State:
    return program::StateKind::Scalar;
  default:
    return program::StateKind::Parameter;
  }
}
static Type elementType(Value buffer) { return cast<MemRefType>(buffer.getType()).getElementType(); }

StateHolders hocket::step::findStateHolders(ArrayRef<ProgramOp> programs) {
  StateHolders holders;
  for (ProgramOp program : programs)
    for (auto buffer : program.getBody().getOps<BufferOp>())
      if (auto slot = buffer.getSlot())
        holders[{*slot, buffer.getName()}].push_back(program.getStage());
  return holders;
}

uint32_t SharedTables::scalar(RankScalarOp op) {
  program::RankScalarT scalar;
  scalar.kind = static_cast<program::RankScalarKind>(op.getKind());
  scalar.size = op.getSize();
  scalar.axes = communicators.convert(op.getAxes().getRefs());
  scalar.behind = static_cast<uint32_t>(op.getBehind().value_or(0));
  auto same = [&](const program::RankScalarT &other) {
    auto sameAxis = [](const program::AxisRef &a, const program::AxisRef &b) {
      return a.axis() == b.axis() && a.pre() == b.pre() && a.size() == b.size();
    };
    return other.kind == scalar.kind && other.size == scalar.size && other.behind == scalar.behind &&
           std::equal(other.axes.begin(), other.axes.end(), scalar.axes.begin(), scalar.axes.end(), sameAxis);
  };
  auto it = llvm::find_if(scalars, same);
  if (it != scalars.end())
    return it - scalars.begin();
  scalars.push_back(scalar);
  return scalars.size() - 1;
}

namespace {
struct RankProgramWriter {
  ProgramOp op;
  SharedTables &shared;
  std::unique_ptr<program::RankProgramT> out = std::make_unique<program::RankProgramT>();

  std::unique_ptr<program::InstructionT> instruction(Operation *from, program::Op kind, StringRef what) {
    auto made = std::make_unique<program::InstructionT>();
    StringRef path = nn::getPath(from);
    made->op = kind;
    made->what = shared.strings.add(path.empty() ? what : (what + " " + path).str());
    made->path = shared.strings.add(path);
    made->source = shared.strings.add(sourceOf(from->getLoc()));
    return made;
  }

  std::unique_ptr<program::InstructionT> convert(LaunchOp launch) {
    auto made = instruction(launch, program::Op::Kernel, launch.getKernel());
    made->kernel = shared.kernels.lookup(launch.getKernel());
    for (Value buffer : llvm::concat<Value>(llvm::to_vector(launch.getInputs()), llvm::to_vector(launch.getOuts())))
      made->buffers.push_back(convertBuffer(buffer));
    for (Value scalar : launch.getScalars())
      made->scalars.push_back(shared.scalar(scalar.getDefiningOp<RankScalarOp>()));
    return made;
  }
  std::unique_ptr<program::InstructionT> convert(GemmOp gemm) {
    auto made = instruction(gemm, program::Op::Gemm, workText(gemm));
    made->type = convertType(elementType(gemm.getA()));
    made->resultType = convertType(elementType(gemm.getOuts()[0]));
    made->buffers = {convertBuffer(gemm.getA()), convertBuffer(gemm.getB()), convertBuffer(gemm.getOuts()[0])};
    if (gemm.getEpilogue())
      made->epilogue = static_cast<program::Epilogue>(*gemm.getEpilogue());
    if (gemm.getExtra())
      made->buffers.push_back(convertBuffer(gemm.getExtra()));
    for (Value second : gemm.getOuts().drop_front())
      made->buffers.push_back(convertBuffer(second));
    auto mnk = gemm.getMnk(), leading = gemm.getLeading();
    SmallVector<int64_t> strides{0, 0, 0};
    if (gemm.getStrides())
      strides.assign(gemm.getStrides()->begin(), gemm.getStrides()->end());
    made->gemm = std::make_unique<program::Gemm>(gemm.getTransA(), gemm.getTransB(), bool(gemm.getC()), mnk[0], mnk[1],
                                                 mnk[2], leading[0], leading[1], leading[2],
                                                 gemm.getBatch().value_or(1), strides[0], strides[1], strides[2]);
    return made;
  }
  std::unique_ptr<program::InstructionT> convert(CollectiveOp collective) {
    static constexpr program::Op kinds[] = {program::Op::AllReduce, program::Op::ReduceScatter, program::Op::AllGather,
                                            program::Op::AllToAll, program::Op::Shift};
    auto made = instruction(collective, kinds[static_cast<int>(collective.getKind())],
                            stringifyCollectiveKind(collective.getKind()));
    made->communicator = shared.communicators.group(collective);
    made->reduction = static_cast<program::Reduction>(collective.getReduction());
    made->type = convertType(elementType(collective.getInput()));
    made->buffers = {convertBuffer(collective.getInput()), convertBuffer(collective.getOuts()[0])};
    made->cause = shared.strings.add(collective.getCause());
    made->stream = streamOf(collective.getStream());
    return made;
  }
  std::unique_ptr<program::InstructionT> convert(AwaitOp await) {
    auto made = instruction(await, program::Op::Await, ("await " + await.getStream()).str());
    made->stream = streamOf(await.getStream());
    made->awaited = static_cast<uint32_t>(await.getCount());
    return made;
  }
  /// 0: what computes; the others in the order in which bodies first name them.
  uint8_t streamOf(std::optional<StringRef> name) {
    if (!name)
      return 0;
    auto &names = out->bodyStreams;
    auto found = llvm::find(names, *name);
    if (found == names.end())
      found = names.insert(found, name->str());
    return static_cast<uint8_t>(found - names.begin() + 1);
  }

  std::unique_ptr<program::InstructionT> convert(TransferOp transfer) {
    auto made = instruction(transfer, program::Op::Transfer, "transfer");
    made->type = convertType(elementType(transfer.getInput()));
    made->buffers = {convertBuffer(transfer.getInput()), convertBuffer(transfer.getOuts()[0])};
    made->cause = shared.strings.add(transfer.getCause());
    made->stream = streamOf(transfer.getStream());
    return made;
  }

  void addBody(BodyOp body) {
    auto made = std::make_unique<program::BodyT>();
    made->name = stringifyBodyKind(body.getKind()).str();
    made->kind = static_cast<program::BodyKind>(body.getKind());
    made->chunk = body.getChunk();
    for (Operation &op : body.getBody().front())
      llvm::TypeSwitch<Operation *>(&op).Case<LaunchOp, GemmOp, CollectiveOp, TransferOp, AwaitOp>([&](auto work) {
        made->instructions.push_back(convert(work));
        made->instructions.back()->written = shared.written.of(work);
      });
    out->bodies.push_back(std::move(made));
  }

  void addMessage(MessageOp message) {
    auto made = std::make_unique<program::MessageT>();
    made->name = message.getText();
    made->communicator = shared.communicators.edge(message.getFrom(), message.getTo());
    made->source = shared.strings.add(sourceOf(message.getLoc()));
    program::Buffer first = convertBuffer(message.getBuffers().front());
    made->buffer = std::make_unique<program::Buffer>(first.space(), first.offset(), message.getBytes());
    out->messages.push_back(std::move(made));
  }

  /// The place of each of a table's bodies or messages among the program's. False (and an error) if it has none.
  bool findPlaces(ScheduleOp schedule, std::map<unsigned, unsigned> &bodies, SmallVectorImpl<unsigned> &messages) {
    TableAttr table = schedule.getTable();
    for (const Message &message : table.getMessages()) {
      auto all = llvm::to_vector(op.ops<MessageOp>());
      auto found = llvm::find_if(all, [&](MessageOp each) { return each.getMessage() == message; });
      if (found == all.end())
        return schedule.emitError() << "names the message '" << messageText(message)
                                    << "', which the program does not have",
               false;
      messages.push_back(found - all.begin());
    }
    unsigned place = 0;
    for (auto body : op.ops<BodyOp>())
      bodies[bodyIndexOf(static_cast<unsigned>(body.getKind()), body.getChunk())] = place++;
    for (const Row &row : table.getRows())
      if (row.kind == RowKind::Body && !bodies.count(row.index))
        return schedule.emitError() << "runs the body "
                                    << stringifyBodyKind(static_cast<BodyKind>(row.index % kBodyKinds)) << " of chunk "
                                    << row.index / kBodyKinds << ", which the program does not have",
               false;
    return true;
  }

  bool addSchedule(ScheduleOp schedule) {
    std::map<unsigned, unsigned> bodies;
    SmallVector<unsigned> messages;
    if (!findPlaces(schedule, bodies, messages))
      return false;
    auto made = std::make_unique<program::EntryT>();
    made->name = schedule.getName().str();
    for (StringAttr stream : schedule.getTable().getStreams())
      made->streams.push_back(stream.str());
    for (const Row &row : schedule.getTable().getRows()) {
      unsigned index = row.kind == RowKind::Body ? bodies[row.index] : messages[row.index];
      made->rows.push_back(program::Row(static_cast<program::RowKind>(row.kind), row.stream, index, row.microbatch,
                                        row.slot,
                                        flatbuffers::span<const uint32_t, 8>(row.wait.data(), row.wait.size())));
    }
    out->entries.push_back(std::move(made));
    return true;
  }

  void addState(BufferOp buffer) {
    auto made = std::make_unique<program::StateT>();
    auto memref = cast<MemRefType>(buffer.getBuffer().getType());
    StringRef name = buffer.getName();
    name.consume_back(slotSuffix(*buffer.getSlot(), memref.getRank()));
    made->name = name.str();
    made->kind = stateKind(*buffer.getSlot());
    ArrayRef<int64_t> shape = memref.getShape();
    if (auto shard = buffer.getShardAttr()) {
      shape = shard.getGlobal().getShape();
      for (const dist::DimSharding &dim : shard.getSharding().getDims()) {
        auto split = std::make_unique<program::DimSplitT>();
        split->axes = shared.communicators.convert(dim.axes);
        made->split.push_back(std::move(split));
      }
    } else {
      for (size_t i = 0; i < shape.size(); ++i)
        made->split.push_back(std::make_unique<program::DimSplitT>());
    }
    made->shape.assign(shape.begin(), shape.end());
    made->type = convertType(memref.getElementType());
    made->holders = shared.holders.at({*buffer.getSlot(), buffer.getName()});
    if (auto init = buffer.getInitAttr()) {
      made->init = static_cast<program::InitKind>(init.getKind());
      made->scale = init.getScale() ? init.getScale().getValueAsDouble() : 0;
    }
    made->buffer = std::make_unique<program::Buffer>(convertBuffer(buffer.getBuffer()));
    made->source = shared.strings.add(sourceOf(buffer.getLoc()));
    out->state.push_back(std::move(made));
  }

  /// Tokens are the model's first argument, labels its second, documents its third.
  program::InputKind kindOfRows(StringRef name) {
    constexpr program::InputKind kinds[] = {program::InputKind::Tokens, program::InputKind::Labels,
                                            program::InputKind::Documents};
    if (std::optional<ArrayAttr> names = shared.model.getArgNames())
      for (auto [argument, kind] : llvm::zip(names->getAsRange<StringAttr>(), kinds))
        if (argument.getValue() == name)
          return kind;
    return program::InputKind::Labels;
  }

  /// `NAME.all` is all microbatches of NAME.
  void addInput(BufferOp buffer) {
    auto memref = cast<MemRefType>(buffer.getBuffer().getType());
    auto made = std::make_unique<program::InputT>();
    StringRef name = buffer.getName();
    bool all = name.consume_back(".all");
    if (llvm::any_of(out->inputs, [&](auto &other) { return other->name == name; }))
      return;
    made->name = name.str();
    made->type = convertType(memref.getElementType());
    program::Buffer where = convertBuffer(buffer.getBuffer());
    if (memref.getRank() == 0) {
      made->kind = program::InputKind::Step;
      made->rows = made->columns = 1;
    } else if (memref.getRank() == 1) {
      made->kind = program::InputKind::Draws;
      made->rows = memref.getDimSize(0);
      made->columns = 1;
      where = program::Buffer(program::Space::Microbatch, where.offset(), where.bytes());
    } else {
      made->kind = kindOfRows(name);
      made->rows = memref.getDimSize(memref.getRank() - 2);
      made->columns = memref.getDimSize(memref.getRank() - 1);
      made->zigzag = static_cast<uint32_t>(buffer.getZigzag().value_or(0));
      if (dist::ShardAttr shard = buffer.getShardAttr())
        made->sequenceAxes = shared.communicators.convert(shard.getSharding().getDims().back().axes);
      where = program::Buffer(program::Space::Microbatch, where.offset(),
                              all ? where.bytes() / memref.getDimSize(0) : where.bytes());
    }
    made->buffer = std::make_unique<program::Buffer>(where);
    out->inputs.push_back(std::move(made));
  }

  void addOutput(BufferOp buffer) {
    auto made = std::make_unique<program::OutputT>();
    made->kind = llvm::StringSwitch<program::OutputKind>(buffer.getName())
                     .Case("grad_norm", program::OutputKind::GradientNorm)
                     .Case("learning_rate", program::OutputKind::LearningRate)
                     .Case("tokens", program::OutputKind::Tokens)
                     .Case("loss_sum", program::OutputKind::LossSum)
                     .Case("loss_scale", program::OutputKind::LossScale)
                     .Case("skipped", program::OutputKind::Skipped)
                     .Case("exhausted", program::OutputKind::Exhausted)
                     .Default(program::OutputKind::Loss);
    made->type = convertType(elementType(buffer.getBuffer()));
    made->buffer = std::make_unique<program::Buffer>(convertBuffer(buffer.getBuffer()));
    out->outputs.push_back(std::move(made));
  }

  /// Bytes of one slot by class: what is busy in it where most is. Buffers share the bytes of a slot, so there is no
  /// class that a byte belongs to all along.
  std::map<MemoryClass, uint64_t> slotMemory() {
    SlotMemory slot(op);
    std::map<MemoryClass, uint64_t> bytes;
    if (succeeded(slot.measure()))
      for (BufferOp buffer : slot.busiest)
        bytes[buffer.getMemory()] += buffer.getBytes();
    return bytes;
  }

  /// Bytes by class, in all those of the arena; what bodies share, alignment, what is free in a slot where it is
  /// busiest, and what is there for a GPU's kernels and products count as workspace.
  void addMemory() {
    std::map<program::MemoryClass, uint64_t> bytes;
    uint64_t known = 0;
    auto count = [&](MemoryClass kind, uint64_t size) {
      bytes[static_cast<program::MemoryClass>(kind)] += size;
      known += size;
    };
    for (auto [kind, size] : slotMemory())
      count(kind, size * op.getSlotCount().value_or(0));
    for (auto buffer : op.getBody().getOps<BufferOp>()) {
      bool microbatch = buffer.getSpace() == Space::Microbatch;
      bool temporary = buffer.getSpace() == Space::Arena && !buffer.getSlot();
      bool twin = microbatch && llvm::any_of(op.getBody().getOps<BufferOp>(), [&](BufferOp other) {
                    return other.getName() == (buffer.getName() + ".all").str();
                  });
      bool inArena = buffer.getSpace() == Space::Arena || microbatch;
      if (inArena && !temporary && !twin)
        count(buffer.getMemory(), buffer.getBytes() * (microbatch ? op.getMicrobatches() : 1));
    }
    bytes[program::MemoryClass::Workspace] += out->arenaBytes - known;
    for (auto [kind, size] : bytes)
      out->memory.push_back(program::MemoryUse(kind, size));
  }

  std::unique_ptr<program::RankProgramT> write() {
    bool sound = true;
    out->stage = op.getStage();
    out->layers = partsText(op.getParts());
    out->arenaBytes = *op.getArenaBytes();
    out->slotsOffset = *op.getSlotsOffset();
    out->slotBytes = *op.getSlotBytes();
    out->slotCount = *op.getSlotCount();
    out->hostBytes = op.getHostBytes().value_or(0);
    out->hostSlotsOffset = op.getHostSlotsOffset().value_or(0);
    out->hostSlotBytes = op.getHostSlotBytes().value_or(0);
    for (Operation &each : op.getBody().front())
      llvm::TypeSwitch<Operation *>(&each)
          .Case([&](BodyOp body) { addBody(body); })
          .Case([&](MessageOp message) { addMessage(message); })
          .Case([&](ScheduleOp schedule) { sound &= addSchedule(schedule); })
          .Case([&](BufferOp buffer) { addSlot(buffer); });
    if (shared.gpu)
      addGpuMemory(op, *out);
    addMemory();
    return sound ? std::move(out) : nullptr;
  }
  void addSlot(BufferOp buffer) {
    if (!buffer.getSlot())
      return;
    switch (*buffer.getSlot()) {
    case nn::SlotKind::Param:
    case nn::SlotKind::FirstMoment:
    case nn::SlotKind::SecondMoment:
    case nn::SlotKind::Master:
    case nn::SlotKind::State:
      return addState(buffer);
    case nn::SlotKind::Input:
      return addInput(buffer);
    case nn::SlotKind::Output:
      return addOutput(buffer);
    case nn::SlotKind::Accumulator:
    case nn::SlotKind::Value:
      return;
    }
  }
};
} // namespace

std::unique_ptr<program::RankProgramT> hocket::step::convertProgram(ProgramOp program, SharedTables &shared) {
  return RankProgramWriter{program, shared}.write();
}
