// State table, inputs and outputs of a stage.
#include "runtime/Program/Check.h"
#include <algorithm>
#include <set>

namespace hocket::program {

namespace {
struct Interval {
  Space space;
  uint64_t begin, end;
  std::string name;
};
} // namespace

static bool isFloat(DType type) { return type <= DType::F16; }

/// Whether shape and split of a State or a LogicalShape are sound.
template <class Value> static bool checkShape(CheckContext &context, const Value &value, const std::string &where) {
  uint32_t dims = value.shape() ? value.shape()->size() : 0;
  if (value.split() && value.split()->size() != dims) {
    context.fault("{}: {} dimensions are split, the shape has {}", where, value.split()->size(), dims);
    return false;
  }
  std::vector<AxisRef> all;
  for (uint32_t dim = 0; value.split() && dim < dims; ++dim)
    for (const AxisRef &ref : axesOf(value.split()->Get(dim)->axes()))
      all.push_back(ref);
  if (!checkAxes(context, all, where))
    return false;
  constexpr unsigned __int128 most = uint64_t(1) << 48;
  unsigned __int128 logical = 1;
  for (uint32_t dim = 0; dim < dims; ++dim) {
    logical *= value.shape()->Get(dim);
    if (value.shape()->Get(dim) < 1 || logical > most) {
      context.fault("{}: dimension {} has size {}, expected at least 1 and at most 2^48 elements in all", where, dim,
                    value.shape()->Get(dim));
      return false;
    }
  }
  return true;
}

/// Bytes of the padded local shape; nothing (and a fault) where shape or split are unsound.
static std::optional<uint64_t> localBytes(CheckContext &context, const State &state, const std::string &where) {
  if (!checkShape(context, state, where))
    return {};
  unsigned __int128 bytes = sizeOf(state.type());
  for (uint64_t extent : paddedShape(state))
    bytes *= extent;
  return static_cast<uint64_t>(bytes);
}

void checkShapes(CheckContext &context) {
  for (uint32_t i = 0; context.program.shapes() && i < context.program.shapes()->size(); ++i)
    checkShape(context, *context.program.shapes()->Get(i), fmt::format("shape {}", i));
}

static void checkOneState(CheckContext &context, const RankProgram &rank, const State &state, const std::string &where,
                          std::vector<Interval> &used) {
  bool sound = context.enumIn(state.type(), where, "type");
  context.enumIn(state.kind(), where, "kind");
  context.enumIn(state.init(), where, "init");
  context.stringIn(state.source(), where);
  if (sound && !isFloat(state.type()) && state.kind() != StateKind::Scalar)
    context.fault("{}: type {}, expected a floating-point type", where, EnumNameDType(state.type()));
  std::optional<uint64_t> bytes = sound ? localBytes(context, state, where) : std::nullopt;
  if (!state.buffer() || (state.buffer()->space() != Space::Arena && state.buffer()->space() != Space::Host)) {
    context.fault("{}: has no buffer in the arena or the host's", where);
    return;
  }
  const Buffer &buffer = *state.buffer();
  if (!checkBuffer(context, rank, buffer, where))
    return;
  if (bytes && buffer.bytes() < *bytes)
    context.fault("{}: buffer of {} bytes, its padded shard needs {}", where, buffer.bytes(), *bytes);
  if (buffer.offset() % sizeOf(state.type()))
    context.fault("{}: offset {} is no multiple of the element size {}", where, buffer.offset(), sizeOf(state.type()));
  used.push_back({buffer.space(), buffer.offset(), buffer.offset() + buffer.bytes(), where});
  std::set<uint32_t> holders;
  bool holds = false;
  for (uint32_t i = 0; state.holders() && i < state.holders()->size(); ++i) {
    uint32_t stage = state.holders()->Get(i);
    holds |= stage == rank.stage();
    if (stage >= context.stages || !holders.insert(stage).second)
      context.fault("{}: holder {}, expected different stages below {}", where, stage, context.stages);
  }
  if (!holds)
    context.fault("{}: stage {} is not among its holders", where, rank.stage());
}

static void checkStates(CheckContext &context, const RankProgram &rank) {
  std::vector<Interval> used;
  std::set<std::pair<std::string, StateKind>> names;
  for (uint32_t i = 0; rank.state() && i < rank.state()->size(); ++i) {
    const State &state = *rank.state()->Get(i);
    std::string where = fmt::format("stage {} state '{}'", rank.stage(), state.name()->str());
    if (state.name()->size() == 0 || !names.insert({state.name()->str(), state.kind()}).second)
      context.fault("{}: name is empty or used twice for the same kind", where);
    checkOneState(context, rank, state, where, used);
  }
  std::sort(used.begin(), used.end(), [](const Interval &a, const Interval &b) {
    return std::pair(a.space, a.begin) < std::pair(b.space, b.begin);
  });
  for (size_t i = 1; i < used.size(); ++i)
    if (used[i].space == used[i - 1].space && used[i].begin < used[i - 1].end)
      context.fault("{} and {} overlap at byte {}", used[i - 1].name, used[i].name, used[i].begin);
}

static void checkInput(CheckContext &context, const RankProgram &rank, const Input &input) {
  std::string where = fmt::format("stage {} input '{}'", rank.stage(), input.name()->str());
  if (!context.enumIn(input.kind(), where, "kind") || !context.enumIn(input.type(), where, "type"))
    return;
  if (!input.buffer()) {
    context.fault("{}: has no buffer", where);
    return;
  }
  if (!checkBuffer(context, rank, *input.buffer(), where))
    return;
  uint64_t size = sizeOf(input.type());
  if (input.buffer()->offset() % size)
    context.fault("{}: offset {} is no multiple of the element size {}", where, input.buffer()->offset(), size);
  if (input.kind() == InputKind::Step) {
    if (input.buffer()->space() != Space::Arena || input.buffer()->bytes() < size)
      context.fault("{}: expected one number in the arena", where);
    return;
  }
  const Program &program = context.program;
  uint64_t parts = gridSize(axesOf(input.sequenceAxes())), chunks = 2 * uint64_t(input.zigzag());
  uint64_t columns = input.kind() == InputKind::Draws ? 1 : program.sequence() / parts;
  if (program.sequence() % parts || (chunks && program.sequence() % chunks))
    context.fault("{}: a sequence of {} in {} parts and zigzag over {} ranks, expected a multiple of {} and {}", where,
                  program.sequence(), parts, input.zigzag(), parts, chunks);
  else if (input.rows() != program.microbatchRows() || input.columns() != columns)
    context.fault("{}: {} rows x {} columns, expected {} x {}", where, input.rows(), input.columns(),
                  program.microbatchRows(), columns);
  else if (input.type() != DType::I32 && input.type() != DType::I64)
    context.fault("{}: type {}, expected I32 or I64", where, EnumNameDType(input.type()));
  else if (input.buffer()->space() != Space::Microbatch ||
           input.buffer()->bytes() != input.rows() * input.columns() * size)
    context.fault("{}: {} bytes in space {}, expected {} bytes for each microbatch", where, input.buffer()->bytes(),
                  EnumNameSpace(input.buffer()->space()), input.rows() * input.columns() * size);
}

static void checkOutput(CheckContext &context, const RankProgram &rank, const Output &output) {
  std::string where = fmt::format("stage {} output", rank.stage());
  if (!context.enumIn(output.kind(), where, "kind") || !context.enumIn(output.type(), where, "type"))
    return;
  where += fmt::format(" {}", EnumNameOutputKind(output.kind()));
  if (!output.buffer() || output.buffer()->space() != Space::Arena ||
      output.buffer()->bytes() < sizeOf(output.type()) || output.buffer()->offset() % sizeOf(output.type()))
    context.fault("{}: expected an aligned scalar in the arena", where);
  else
    checkBuffer(context, rank, *output.buffer(), where);
  if (output.type() == DType::BF16 || output.type() == DType::F16)
    context.fault("{}: type {}, expected F32, F64, I32 or I64", where, EnumNameDType(output.type()));
}

void checkState(CheckContext &context, const RankProgram &rank) {
  checkStates(context, rank);
  if (rank.inputs())
    for (const Input *input : *rank.inputs())
      checkInput(context, rank, *input);
  if (rank.outputs())
    for (const Output *output : *rank.outputs())
      checkOutput(context, rank, *output);
  for (uint32_t i = 0; rank.memory() && i < rank.memory()->size(); ++i)
    context.enumIn(rank.memory()->Get(i)->kind(), fmt::format("stage {} memory use {}", rank.stage(), i), "kind");
}

} // namespace hocket::program
