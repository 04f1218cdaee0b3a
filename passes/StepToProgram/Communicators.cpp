// See Communicators.h.
#include "passes/StepToProgram/Communicators.h"
#include <set>
using namespace mlir;
using namespace hocket;
using namespace hocket::step;

std::string Communicators::groupName(CollectiveOp collective) {
  std::string name = dist::axesText(collective.getAxes().getRefs());
  if (auto stages = collective.getStagesAttr()) {
    name += " at";
    for (int64_t stage : stages.asArrayRef())
      name += " " + std::to_string(stage);
  }
  if (auto stream = collective.getStream())
    name += (" on " + *stream).str();
  return name;
}

std::string Communicators::edgeName(unsigned from, unsigned to) {
  return ("stage " + Twine(from) + " to " + Twine(to)).str();
}

program::AxisRef Communicators::convert(const dist::AxisRef &ref) const {
  uint32_t size = dist::axisSize(mesh, ref);
  return program::AxisRef(mesh.getAxisIndex(ref.name.getValue()), ref.pre, size);
}

std::vector<program::AxisRef> Communicators::convert(ArrayRef<dist::AxisRef> refs) const {
  std::vector<program::AxisRef> list;
  for (const dist::AxisRef &ref : refs)
    if (dist::axisSize(mesh, ref) > 1)
      list.push_back(convert(ref));
  return list;
}

Communicators::Communicators(ArrayRef<ProgramOp> programs, dist::MeshOp mesh, int stageAxis) : mesh(mesh) {
  auto add = [&](StringRef name) -> program::CommunicatorT * {
    if (!index.try_emplace(name, list.size()).second)
      return nullptr;
    list.push_back(std::make_unique<program::CommunicatorT>());
    list.back()->name = name.str();
    return list.back().get();
  };
  for (ProgramOp program : programs)
    program->walk([&](CollectiveOp collective) {
      auto *made = add(groupName(collective));
      if (!made)
        return;
      made->kind = program::CommunicatorKind::Group;
      made->axes = convert(collective.getAxes().getRefs());
      if (auto stages = collective.getStagesAttr())
        made->coordinates.assign(stages.asArrayRef().begin(), stages.asArrayRef().end());
    });
  std::set<std::tuple<unsigned, unsigned, bool>> edges; // lower stage, upper stage, upwards
  for (ProgramOp program : programs)
    for (auto message : program.ops<MessageOp>()) {
      unsigned from = message.getFrom(), to = message.getTo();
      edges.insert({std::min(from, to), std::max(from, to), from > to});
    }
  for (auto [lower, upper, upwards] : edges) {
    unsigned from = upwards ? upper : lower, to = upwards ? lower : upper;
    auto *made = add(edgeName(from, to));
    made->kind = program::CommunicatorKind::Edge;
    uint32_t size = cast<dist::MeshAxisAttr>(mesh.getAxes()[stageAxis]).getSize();
    made->axes = {program::AxisRef(stageAxis, 1, size)};
    made->from = from;
    made->to = to;
  }
}

uint32_t Communicators::group(CollectiveOp collective) const { return index.lookup(groupName(collective)); }
uint32_t Communicators::edge(unsigned from, unsigned to) const { return index.lookup(edgeName(from, to)); }
