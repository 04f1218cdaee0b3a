// Builds the sample program; what it computes is in SampleProgram.h.
#include "SampleProgram.h"

namespace hocket::sample {

using namespace hocket::program;

namespace {
enum Communicators : uint32_t { World, Data, Down, Up };
enum Kernels : uint32_t { Begin0, Begin1, Forward0, Forward1, Backward0, Backward1, Update0, Update1, Finish };
enum Strings : uint32_t {
  None,
  EmbeddingText,
  LossText,
  UpdateText,
  CollectText,
  Line3,
  Line7,
  Data1,
  Path,
  ResultName
};

// Gives out the arena piece by piece, each aligned to 64.
struct Layout {
  uint64_t end = 0;
  Buffer take(uint64_t bytes, Space space = Space::Arena, uint64_t times = 1) {
    uint64_t offset = end;
    end += (bytes * times + 63) / 64 * 64;
    return Buffer(space, offset, bytes);
  }
};

std::unique_ptr<InstructionT> instruction(Op op, std::vector<Buffer> buffers, uint32_t what, uint32_t source) {
  auto result = std::make_unique<InstructionT>();
  result->op = op;
  result->buffers = std::move(buffers);
  result->what = what;
  result->path = Path;
  result->source = source;
  return result;
}
std::unique_ptr<InstructionT> kernel(uint32_t index, std::vector<Buffer> buffers, uint32_t what, uint32_t source,
                                     std::vector<uint32_t> scalars = {}) {
  auto result = instruction(Op::Kernel, std::move(buffers), what, source);
  result->kernel = index;
  result->scalars = std::move(scalars);
  return result;
}
std::unique_ptr<InstructionT> collective(Op op, uint32_t communicator, Buffer in, Buffer out) {
  auto result = instruction(op, {in, out}, CollectText, Line7);
  result->communicator = communicator;
  result->cause = Data1;
  result->written.emplace_back(1, static_cast<uint32_t>(out.bytes() / 4 - 1), ResultName, DType::F32, Infinities::None);
  return result;
}

template <class... Instructions> void body(RankProgramT &rank, std::string name, BodyKind kind, Instructions... list) {
  auto result = std::make_unique<BodyT>();
  result->name = std::move(name);
  result->kind = kind;
  (result->instructions.push_back(std::move(list)), ...);
  rank.bodies.push_back(std::move(result));
}

void message(RankProgramT &rank, std::string name, uint32_t communicator, Buffer buffer) {
  auto result = std::make_unique<MessageT>();
  result->name = std::move(name);
  result->communicator = communicator;
  result->buffer = std::make_unique<Buffer>(buffer);
  result->source = Line3;
  rank.messages.push_back(std::move(result));
}

void state(RankProgramT &rank, std::string name, StateKind kind, std::vector<uint64_t> shape, bool split, InitKind init,
           double scale, Buffer buffer) {
  auto result = std::make_unique<StateT>();
  result->name = std::move(name);
  result->kind = kind;
  result->init = init;
  result->scale = scale;
  result->source = Line3;
  for (size_t dim = 0; dim < shape.size(); ++dim) {
    result->split.push_back(std::make_unique<DimSplitT>());
    if (split)
      result->split.back()->axes = {AxisRef(1, 1, 2)};
  }
  result->shape = std::move(shape);
  result->holders = {rank.stage};
  result->buffer = std::make_unique<Buffer>(buffer);
  rank.state.push_back(std::move(result));
}

void input(RankProgramT &rank, InputKind kind, DType type, Buffer buffer) {
  auto result = std::make_unique<InputT>();
  result->name = EnumNameInputKind(kind);
  result->kind = kind;
  result->type = type;
  result->rows = rows;
  result->columns = sequence;
  result->buffer = std::make_unique<Buffer>(buffer);
  rank.inputs.push_back(std::move(result));
}

void output(RankProgramT &rank, OutputKind kind, DType type, Buffer buffer) {
  auto result = std::make_unique<OutputT>();
  result->kind = kind;
  result->type = type;
  result->buffer = std::make_unique<Buffer>(buffer);
  rank.outputs.push_back(std::move(result));
}

Row row(RowKind kind, uint8_t stream, uint16_t index, uint32_t microbatch, std::array<uint32_t, 3> wait = {}) {
  uint32_t all[8] = {wait[0], wait[1], wait[2]};
  return Row(kind, stream, index, microbatch, microbatch % 2, flatbuffers::span<const uint32_t, 8>(all));
}

void entry(RankProgramT &rank, std::vector<std::string> streams, std::vector<Row> rows) {
  auto result = std::make_unique<EntryT>();
  result->name = trainEntry;
  result->streams = std::move(streams);
  result->rows = std::move(rows);
  rank.entries.push_back(std::move(result));
}

// What both stages have: sums {loss, count}, the step's number and the outputs.
struct Shared {
  Buffer sums, loss, count, step;
  explicit Shared(Layout &layout)
      : sums(layout.take(8)), loss(layout.take(4)), count(layout.take(8)), step(layout.take(8)) {}
  void declare(RankProgramT &rank) const {
    input(rank, InputKind::Step, DType::I64, step);
    output(rank, OutputKind::Loss, DType::F32, loss);
    output(rank, OutputKind::Tokens, DType::I64, count);
  }
};

void finishMemory(RankProgramT &rank, const Layout &layout, uint64_t slotBytes) {
  rank.slotsOffset = layout.end;
  rank.slotBytes = slotBytes;
  rank.slotCount = 2;
  rank.arenaBytes = layout.end + 2 * slotBytes;
  rank.memory = {MemoryUse(MemoryClass::Activation, 2 * slotBytes)};
}

std::unique_ptr<RankProgramT> stage0() {
  auto rank = std::make_unique<RankProgramT>();
  Layout layout, slot;
  Shared shared(layout);
  Buffer w = layout.take(24), moment = layout.take(12), dw = layout.take(24), piece = layout.take(12);
  Buffer tokens = layout.take(cells * 4, Space::Microbatch, microbatches);
  Buffer h = slot.take(cells * 4, Space::Slot), dh = slot.take(cells * 4, Space::Slot);
  shared.declare(*rank);
  input(*rank, InputKind::Tokens, DType::I32, tokens);
  state(*rank, "w", StateKind::Parameter, {vocabulary}, false, InitKind::Normal, 2.0, w);
  state(*rank, "w", StateKind::FirstMoment, {vocabulary}, true, InitKind::Zeros, 0, moment);
  body(*rank, "begin", BodyKind::Begin, kernel(Begin0, {dw, shared.sums}, UpdateText, Line3));
  body(*rank, "forward_0", BodyKind::Forward, kernel(Forward0, {tokens, w, h}, EmbeddingText, Line3));
  body(*rank, "backward_0", BodyKind::Backward, kernel(Backward0, {tokens, dh, dw}, EmbeddingText, Line3));
  body(*rank, "update", BodyKind::Update, collective(Op::AllReduce, World, shared.sums, shared.sums),
       collective(Op::ReduceScatter, Data, dw, piece),
       kernel(Update0, {w, piece, moment, shared.sums}, UpdateText, Line3, {0, 1}),
       collective(Op::AllGather, Data, piece, w),
       kernel(Finish, {shared.sums, shared.loss, shared.count}, LossText, Line7));
  message(*rank, "h", Down, h);
  message(*rank, "dh", Up, dh);
  auto compute = [](uint16_t index, uint32_t microbatch, std::array<uint32_t, 3> wait = {}) {
    return row(RowKind::Body, 0, index, microbatch, wait);
  };
  entry(*rank, {"compute", "send", "receive"},
        {compute(0, 0), compute(1, 0), compute(1, 1), compute(2, 0, {0, 0, 1}), compute(1, 2, {0, 1, 0}),
         compute(2, 1, {0, 0, 2}), compute(2, 2, {0, 0, 3}), compute(3, 0, {0, 3, 0}), row(RowKind::Send, 1, 0, 0, {2}),
         row(RowKind::Send, 1, 0, 1, {3}), row(RowKind::Send, 1, 0, 2, {5}), row(RowKind::Receive, 2, 1, 0),
         row(RowKind::Receive, 2, 1, 1), row(RowKind::Receive, 2, 1, 2, {4})});
  finishMemory(*rank, layout, slot.end);
  return rank;
}

std::unique_ptr<RankProgramT> stage1() {
  auto rank = std::make_unique<RankProgramT>();
  rank->stage = 1;
  Layout layout, slot;
  Shared shared(layout);
  Buffer u = layout.take(4), du = layout.take(4);
  Buffer labels = layout.take(cells * 4, Space::Microbatch, microbatches);
  Buffer h = slot.take(cells * 4, Space::Slot), dh = slot.take(cells * 4, Space::Slot);
  shared.declare(*rank);
  input(*rank, InputKind::Labels, DType::I32, labels);
  state(*rank, "u", StateKind::Parameter, {1}, false, InitKind::Constant, 1.5, u);
  body(*rank, "begin", BodyKind::Begin, kernel(Begin1, {du, shared.sums}, UpdateText, Line7));
  body(*rank, "forward_1", BodyKind::Forward, kernel(Forward1, {h, labels, u, shared.sums}, LossText, Line7));
  body(*rank, "backward_1", BodyKind::Backward, kernel(Backward1, {h, labels, u, du, dh}, LossText, Line7));
  body(*rank, "update", BodyKind::Update, collective(Op::AllReduce, World, shared.sums, shared.sums),
       collective(Op::AllReduce, Data, du, du), kernel(Update1, {u, du, shared.sums}, UpdateText, Line7),
       kernel(Finish, {shared.sums, shared.loss, shared.count}, LossText, Line7));
  message(*rank, "h", Down, h);
  message(*rank, "dh", Up, dh);
  auto compute = [](uint16_t index, uint32_t microbatch, std::array<uint32_t, 3> wait = {}) {
    return row(RowKind::Body, 0, index, microbatch, wait);
  };
  entry(*rank, {"compute", "receive", "send"},
        {compute(0, 0), compute(1, 0, {0, 1, 0}), compute(2, 0), compute(1, 1, {0, 2, 0}), compute(2, 1),
         compute(1, 2, {0, 3, 0}), compute(2, 2, {0, 0, 1}), compute(3, 0, {0, 0, 3}), row(RowKind::Receive, 1, 0, 0),
         row(RowKind::Receive, 1, 0, 1), row(RowKind::Receive, 1, 0, 2, {3}), row(RowKind::Send, 2, 1, 0, {3}),
         row(RowKind::Send, 2, 1, 1, {5}), row(RowKind::Send, 2, 1, 2, {7})});
  finishMemory(*rank, layout, slot.end);
  return rank;
}

void communicator(ProgramT &program, std::string name, CommunicatorKind kind, std::vector<AxisRef> axes,
                  uint32_t from = 0, uint32_t to = 0) {
  auto result = std::make_unique<CommunicatorT>();
  result->name = std::move(name);
  result->kind = kind;
  result->axes = std::move(axes);
  result->from = from;
  result->to = to;
  program.communicators.push_back(std::move(result));
}
} // namespace

ProgramT sampleProgram() {
  ProgramT program;
  program.name = "sample";
  program.plan = "by_hand";
  program.recipe = "plain descent";
  program.target = "cpu";
  program.march = "x86-64";
  for (const char *name : {"pp", "dp"}) {
    program.axes.push_back(std::make_unique<AxisT>());
    program.axes.back()->name = name;
    program.axes.back()->size = 2;
  }
  program.stageAxis = 0;
  program.dataAxes = {AxisRef(1, 1, 2)};
  program.threads = 2;
  program.globalBatch = rows * dataShards * microbatches;
  program.microbatchRows = rows;
  program.microbatches = microbatches;
  program.sequence = sequence;
  program.vocabulary = vocabulary;
  program.parameters = vocabulary + 1;
  program.seed = 1234;
  program.schedule = "1f1b";
  communicator(program, "pp,dp", CommunicatorKind::Group, {AxisRef(0, 1, 2), AxisRef(1, 1, 2)});
  communicator(program, "dp", CommunicatorKind::Group, {AxisRef(1, 1, 2)});
  communicator(program, "pp 0->1", CommunicatorKind::Edge, {AxisRef(0, 1, 2)}, 0, 1);
  communicator(program, "pp 1->0", CommunicatorKind::Edge, {AxisRef(0, 1, 2)}, 1, 0);
  for (RankScalarKind kind : {RankScalarKind::Offset, RankScalarKind::Extent}) {
    program.scalars.push_back(std::make_unique<RankScalarT>());
    program.scalars.back()->kind = kind;
    program.scalars.back()->size = vocabulary;
    program.scalars.back()->axes = {AxisRef(1, 1, 2)};
  }
  for (const char *symbol : {"sample_begin0", "sample_begin1", "sample_forward0", "sample_forward1", "sample_backward0",
                             "sample_backward1", "sample_update0", "sample_update1", "sample_finish"}) {
    program.kernels.push_back(std::make_unique<KernelT>());
    program.kernels.back()->symbol = symbol;
    program.kernels.back()->tiles = program.kernels.size() - 1 == Forward0 ? rows : 1;
  }
  program.strings = {"",
                     "embedding w",
                     "weighted loss",
                     "update",
                     "sum over ranks",
                     "sample.mlir:3:8",
                     "sample.mlir:7:8",
                     "batch over \"dp\"",
                     "layer",
                     "'result'"};
  for (uint64_t size = 1; size <= 6; ++size) { // shape i: i + 1 numbers
    program.shapes.push_back(std::make_unique<LogicalShapeT>());
    program.shapes.back()->shape = {size};
  }
  program.ranks.push_back(stage0());
  program.ranks.push_back(stage1());
  return program;
}

} // namespace hocket::sample
