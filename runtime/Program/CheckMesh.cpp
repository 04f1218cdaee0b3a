// Mesh, sub-axes, communicators, batch and rank numbers of a program; and the order in which the parts are checked.
#include "runtime/Program/Check.h"
#include <set>

namespace hocket::program {

static constexpr uint64_t maxWorld = uint64_t(1) << 24;

std::vector<std::string> check(const Program &program) {
  CheckContext context{program, {}};
  checkMesh(context);
  if (context.faults.empty()) {
    checkShapes(context);
    checkTarget(context);
  }
  if (!context.faults.empty())
    return context.faults;
  for (const RankProgram *rank : *program.ranks()) {
    checkBodies(context, *rank);
    checkStreams(context, *rank);
    checkState(context, *rank);
    checkSchedule(context, *rank);
  }
  if (context.faults.empty())
    for (const RankProgram *rank : *program.ranks())
      checkGpuMemory(context, *rank);
  if (context.faults.empty())
    checkAcrossStages(context);
  if (context.faults.empty())
    checkIssueOrder(context);
  return context.faults;
}

bool checkAxes(CheckContext &context, std::span<const AxisRef> axes, const std::string &where) {
  const auto &declared = *context.program.axes();
  for (size_t i = 0; i < axes.size(); ++i) {
    const AxisRef &ref = axes[i];
    if (!context.indexIn(ref.axis(), declared.size(), where, "axis"))
      return false;
    uint64_t size = declared.Get(ref.axis())->size();
    uint64_t part = uint64_t(ref.pre()) * ref.size();
    if (part == 0 || size % part != 0) {
      context.fault("{}: part {} x {} of axis '{}', expected divisors of its size {}", where, ref.pre(), ref.size(),
                    declared.Get(ref.axis())->name()->str(), size);
      return false;
    }
    for (size_t j = 0; j < i; ++j)
      if (axes[j].axis() == ref.axis() && axes[j].size() > 1 && ref.size() > 1 &&
          ref.pre() % (uint64_t(axes[j].pre()) * axes[j].size()) != 0 &&
          axes[j].pre() % (uint64_t(ref.pre()) * ref.size()) != 0) {
        context.fault("{}: axis '{}' is used twice", where, declared.Get(ref.axis())->name()->str());
        return false;
      }
  }
  return true;
}

static bool usesStages(const Program &program, std::span<const AxisRef> axes) {
  for (const AxisRef &ref : axes)
    if (static_cast<int64_t>(ref.axis()) == program.stageAxis())
      return true;
  return false;
}

bool spansStages(const Program &program, const Communicator &communicator) {
  return usesStages(program, axesOf(communicator.axes()));
}

uint32_t memberCount(const Program &program, const Communicator &communicator, uint32_t stage) {
  if (communicator.kind() == CommunicatorKind::Edge)
    return communicator.from() == stage || communicator.to() == stage ? 2 : 0;
  const auto *coordinates = communicator.coordinates();
  if (!coordinates || coordinates->size() == 0)
    return static_cast<uint32_t>(gridSize(axesOf(communicator.axes())));
  if (!spansStages(program, communicator))
    return coordinates->size();
  for (uint32_t at : *coordinates)
    if (at == stage)
      return coordinates->size();
  return 0;
}

static void checkCommunicator(CheckContext &context, const Communicator &communicator) {
  const Program &program = context.program;
  std::string where = fmt::format("communicator '{}'", communicator.name()->str());
  std::span<const AxisRef> axes = axesOf(communicator.axes());
  if (!context.enumIn(communicator.kind(), where, "kind") || !checkAxes(context, axes, where))
    return;
  for (const AxisRef &ref : axes)
    if (static_cast<int64_t>(ref.axis()) == program.stageAxis() && ref.size() != context.stages)
      context.fault("{}: takes {} of the {} stages by a sub-axis, expected all or a list of coordinates", where,
                    ref.size(), context.stages);
  if (communicator.kind() == CommunicatorKind::Edge) {
    if (axes.size() != 1 || static_cast<int64_t>(axes[0].axis()) != program.stageAxis())
      context.fault("{}: an edge lies along the stage axis alone", where);
    else if (communicator.from() >= context.stages || communicator.to() >= context.stages ||
             communicator.from() == communicator.to())
      context.fault("{}: edge from {} to {}, expected two different stages of {}", where, communicator.from(),
                    communicator.to(), context.stages);
    return;
  }
  const auto *coordinates = communicator.coordinates();
  if (!coordinates || coordinates->size() == 0)
    return;
  if (axes.size() != 1) {
    context.fault("{}: coordinates are given for {} axes, expected one", where, axes.size());
    return;
  }
  std::set<uint32_t> seen;
  for (uint32_t at : *coordinates)
    if (at >= axes[0].size() || !seen.insert(at).second)
      context.fault("{}: coordinate {}, expected different ones below {}", where, at, axes[0].size());
}

static void checkBatch(CheckContext &context) {
  const Program &program = context.program;
  for (auto [value, name] :
       {std::pair(program.globalBatch(), "global batch"), std::pair(program.microbatchRows(), "microbatch rows"),
        std::pair(program.microbatches(), "microbatches"), std::pair(program.sequence(), "sequence"),
        std::pair(program.vocabulary(), "vocabulary")})
    if (value < 1 || value > uint64_t(1) << 31)
      context.fault("{} is {}, expected 1 to 2^31", name, value);
  std::span<const AxisRef> data = axesOf(program.dataAxes());
  if (!checkAxes(context, data, "data axes") || !context.faults.empty())
    return;
  if (usesStages(program, data))
    context.fault("data axes: the stage axis cannot split the batch");
  uint64_t shards = gridSize(data);
  using Wide = unsigned __int128;
  if (Wide(program.microbatchRows()) * program.microbatches() * shards != program.globalBatch())
    context.fault("global batch is {}, expected {} rows x {} microbatches x {} data shards", program.globalBatch(),
                  program.microbatchRows(), program.microbatches(), shards);
}

static void checkAxesDeclared(CheckContext &context) {
  const Program &program = context.program;
  uint64_t world = 1;
  std::set<std::string> names;
  for (const Axis *axis : *program.axes()) {
    if (axis->size() < 1 || world * axis->size() > maxWorld) {
      context.fault("axis '{}' has size {}, expected at least 1 and at most {} ranks in all", axis->name()->str(),
                    axis->size(), maxWorld);
      return;
    }
    world *= axis->size();
    if (axis->name()->size() == 0 || !names.insert(axis->name()->str()).second)
      context.fault("axis name '{}' is empty or used twice", axis->name()->str());
  }
  if (program.stageAxis() < -1 || program.stageAxis() >= static_cast<int64_t>(program.axes()->size()))
    context.fault("stage axis is {}, expected -1 to {}", program.stageAxis(), program.axes()->size() - 1.0);
}

void checkMesh(CheckContext &context) {
  const Program &program = context.program;
  checkAxesDeclared(context);
  if (!context.faults.empty())
    return;
  context.stages = program.stageAxis() < 0 ? 1 : program.axes()->Get(program.stageAxis())->size();
  if (program.ranks()->size() != context.stages)
    context.fault("{} rank programs, expected one for each of {} stages", program.ranks()->size(), context.stages);
  for (uint32_t i = 0; i < program.ranks()->size(); ++i) {
    const RankProgram &rank = *program.ranks()->Get(i);
    if (rank.stage() != i)
      context.fault("rank program {} is of stage {}, expected {}", i, rank.stage(), i);
    if (rank.arenaBytes() > maxSize)
      context.fault("stage {}: arena of {} bytes, expected at most {}", i, rank.arenaBytes(), maxSize);
    if (rank.hostBytes() > maxSize)
      context.fault("stage {}: host's arena of {} bytes, expected at most {}", i, rank.hostBytes(), maxSize);
  }
  if (program.threads() < 1 || program.threads() > 1024)
    context.fault("threads per rank is {}, expected 1 to 1024", program.threads());
  checkBatch(context);
  if (program.communicators())
    for (const Communicator *communicator : *program.communicators())
      checkCommunicator(context, *communicator);
  for (uint32_t i = 0; program.scalars() && i < program.scalars()->size(); ++i) {
    const RankScalar &scalar = *program.scalars()->Get(i);
    std::string where = fmt::format("rank-dependent number {}", i);
    context.enumIn(scalar.kind(), where, "kind");
    checkAxes(context, axesOf(scalar.axes()), where);
    if (scalar.size() > maxSize)
      context.fault("{}: dimension of {}, expected at most {}", where, scalar.size(), maxSize);
  }
  for (uint32_t i = 0; program.kernels() && i < program.kernels()->size(); ++i) {
    const Kernel &kernel = *program.kernels()->Get(i);
    if (kernel.symbol()->size() == 0 || kernel.tiles() < 1 || kernel.tiles() > maxSize)
      context.fault("kernel {} '{}': {} tiles, expected a symbol and at least 1 tile", i, kernel.symbol()->str(),
                    kernel.tiles());
  }
}

} // namespace hocket::program
