// What goes into a step and what comes out of it.
#include "runtime/Executor/Rank.h"
#include "runtime/Program/Random.h"
#include <cmath>
#include <cstring>
#include <limits>

namespace hocket::runtime {

BatchShape batchShapeOf(const program::Program &program) {
  BatchShape shape{program.globalBatch(), program.sequence(), program.vocabulary(), program.microbatchRows(),
                   program::gridSize(program::axesOf(program.dataAxes()))};
  for (const program::RankProgram *rank : *program.ranks())
    for (uint32_t i = 0; rank->inputs() && i < rank->inputs()->size(); ++i)
      shape.documents |= rank->inputs()->Get(i)->kind() == program::InputKind::Documents;
  return shape;
}

// A number in the type of an input or output.
static void writeNumber(void *to, program::DType type, uint64_t value) {
  auto put = [&](auto number) { std::memcpy(to, &number, sizeof number); };
  switch (type) {
  case program::DType::I64:
    return put(static_cast<int64_t>(value));
  case program::DType::F64:
    return put(static_cast<double>(value));
  case program::DType::F32:
    return put(static_cast<float>(value));
  default:
    return put(static_cast<int32_t>(value));
  }
}

static double readNumber(const void *from, program::DType type) {
  auto get = [&](auto number) {
    std::memcpy(&number, from, sizeof number);
    return static_cast<double>(number);
  };
  switch (type) {
  case program::DType::I64:
    return get(int64_t());
  case program::DType::I32:
    return get(int32_t());
  case program::DType::F64:
    return get(double());
  default:
    return get(float());
  }
}

// Ids of one input of a microbatch, asked for alone: a stage holds only what it reads.
static BatchRows rowsOf(program::InputKind kind, std::span<int32_t> ids) {
  if (kind == program::InputKind::Labels)
    return {{}, ids, {}};
  if (kind == program::InputKind::Documents)
    return {{}, {}, ids};
  return {ids, {}, {}};
}

// The token that stands at `place` of a sequence in 2 * ranks chunks of the order 0, 2 ranks - 1, 1, 2 ranks - 2, …
// 8 tokens over 2 ranks: 0 1 6 7 2 3 4 5. Over 0: as it is.
static uint64_t tokenAt(uint64_t place, uint64_t sequence, uint64_t ranks) {
  if (ranks == 0)
    return place;
  uint64_t length = sequence / (2 * ranks), chunk = place / length;
  return (chunk % 2 == 0 ? chunk / 2 : 2 * ranks - 1 - chunk / 2) * length + place % length;
}

// This rank's part of rows of whole sequences.
static void takeColumns(const RankContext &context, const program::Input &input, std::span<const int32_t> rows,
                        std::span<int32_t> to) {
  uint64_t sequence = context.program.sequence(), columns = input.columns();
  uint64_t first = context.mesh.position(context.rank, program::axesOf(input.sequenceAxes())) * columns;
  for (uint64_t row = 0; row < input.rows(); ++row)
    for (uint64_t i = 0; i < columns; ++i)
      to[row * columns + i] = rows[row * sequence + tokenAt(first + i, sequence, input.zigzag())];
}

static Status loadRows(RankContext &context, const ReadRows &readRows, const program::Input &input) {
  uint32_t shard = context.mesh.position(context.rank, program::axesOf(context.program.dataAxes()));
  uint64_t count = input.rows() * input.columns();
  std::vector<int32_t> wide(input.type() == program::DType::I64 ? count : 0);
  bool whole = input.columns() == context.program.sequence() && input.zigzag() == 0;
  std::vector<int32_t> rows(whole ? 0 : input.rows() * context.program.sequence());
  for (uint32_t microbatch = 0; microbatch < context.program.microbatches(); ++microbatch) {
    auto fill = [&](std::byte *to) -> Status {
      std::span<int32_t> ids = wide.empty() ? std::span(reinterpret_cast<int32_t *>(to), count) : std::span(wide);
      if (Status read = readRows(microbatch, shard, rowsOf(input.kind(), whole ? ids : std::span(rows))); !read)
        return read;
      if (!whole)
        takeColumns(context, input, rows, ids);
      for (size_t i = 0; i < wide.size(); ++i)
        reinterpret_cast<int64_t *>(to)[i] = wide[i];
      return {};
    };
    std::byte *to = context.address(*input.buffer(), microbatch, 0);
    if (Status written = context.memory->write(to, input.buffer()->bytes(), fill); !written)
      return written;
  }
  return {};
}

// Global rows as in BatchReader.h.
static Status loadDraws(RankContext &context, const program::Input &input, uint64_t step,
                        std::optional<uint64_t> seed) {
  std::span<const program::AxisRef> axes = program::axesOf(context.program.dataAxes());
  uint64_t shard = context.mesh.position(context.rank, axes), shards = program::gridSize(axes), rows = input.rows();
  for (uint32_t microbatch = 0; microbatch < context.program.microbatches(); ++microbatch) {
    auto fill = [&](std::byte *to) {
      for (uint64_t row = 0; row < rows; ++row)
        reinterpret_cast<uint32_t *>(to)[row] =
            seed ? program::sequenceDraw(*seed, step, (microbatch * shards + shard) * rows + row) : 0;
      return Status();
    };
    std::byte *to = context.address(*input.buffer(), microbatch, 0);
    if (Status written = context.memory->write(to, input.buffer()->bytes(), fill); !written)
      return written;
  }
  return {};
}

Status loadInputs(RankContext &context, const ReadRows &read, uint64_t step, std::optional<uint64_t> seed) {
  for (uint32_t i = 0; context.own.inputs() && i < context.own.inputs()->size(); ++i) {
    const program::Input &input = *context.own.inputs()->Get(i);
    auto number = [&](std::byte *to) {
      writeNumber(to, input.type(), step);
      return Status();
    };
    Status loaded = input.kind() == program::InputKind::Step
                        ? context.memory->write(context.address(*input.buffer(), 0, 0), input.buffer()->bytes(), number)
                    : input.kind() == program::InputKind::Draws ? loadDraws(context, input, step, seed)
                                                                : loadRows(context, read, input);
    if (!loaded)
      return loaded;
  }
  return {};
}

const program::Entry *entryOf(const program::RankProgram &rank, std::string_view name) {
  for (const program::Entry *entry : *rank.entries())
    if (entry->name()->string_view() == name)
      return entry;
  return nullptr;
}

Result<StepOutputs> readOutputs(const RankContext &context) {
  constexpr double none = std::numeric_limits<double>::quiet_NaN();
  StepOutputs result{none, none, none, none, none, none, none, none};
  for (uint32_t i = 0; context.own.outputs() && i < context.own.outputs()->size(); ++i) {
    const program::Output &output = *context.own.outputs()->Get(i);
    Result<DeviceMemory::Reading> read =
        context.memory->read(context.address(*output.buffer(), 0, 0), output.buffer()->bytes());
    if (!read)
      return std::move(read.error());
    double value = readNumber(read->data(), output.type());
    switch (output.kind()) {
    case program::OutputKind::Loss:
      result.loss = value;
      break;
    case program::OutputKind::GradientNorm:
      result.gradientNorm = value;
      break;
    case program::OutputKind::LearningRate:
      result.learningRate = value;
      break;
    case program::OutputKind::Tokens:
      result.tokens = value;
      break;
    case program::OutputKind::LossSum:
      result.lossSum = value;
      break;
    case program::OutputKind::LossScale:
      result.lossScale = value;
      break;
    case program::OutputKind::Skipped:
      result.skipped = value;
      break;
    case program::OutputKind::Exhausted:
      result.exhausted = value;
      break;
    }
  }
  return result;
}

} // namespace hocket::runtime
