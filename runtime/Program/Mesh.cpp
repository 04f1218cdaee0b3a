// Mesh arithmetic; contracts in Mesh.h.
#include "runtime/Program/Mesh.h"
#include <algorithm>
#include <fmt/format.h>

namespace hocket::program {

Mesh::Mesh(std::vector<Axis> axes) : axisList(std::move(axes)), world(1) {
  for (const Axis &axis : axisList)
    world *= axis.size;
}

static std::vector<Mesh::Axis> axesFrom(const Program &program) {
  std::vector<Mesh::Axis> axes;
  for (const auto *axis : *program.axes())
    axes.push_back({axis->name()->str(), axis->size()});
  return axes;
}

Mesh::Mesh(const Program &program) : Mesh(axesFrom(program)) {}

std::vector<uint32_t> Mesh::coordinates(uint32_t rank) const {
  std::vector<uint32_t> result(axisList.size());
  for (size_t i = axisList.size(); i-- > 0; rank /= axisList[i].size)
    result[i] = rank % axisList[i].size;
  return result;
}

uint32_t Mesh::rank(std::span<const uint32_t> coordinates) const {
  uint32_t result = 0;
  for (size_t i = 0; i < axisList.size(); ++i)
    result = result * axisList[i].size + coordinates[i];
  return result;
}

std::string Mesh::text(uint32_t rank) const {
  std::string result;
  std::vector<uint32_t> at = coordinates(rank);
  for (size_t i = 0; i < axisList.size(); ++i)
    result += fmt::format("{}{}={}", i ? " " : "", axisList[i].name, at[i]);
  return result;
}

std::string Mesh::sizesText() const {
  std::string result;
  for (const Axis &axis : axisList)
    result += fmt::format("{}{}={}", result.empty() ? "" : ", ", axis.name, axis.size);
  return result;
}

uint32_t Mesh::coordinate(uint32_t rank, const AxisRef &ref) const {
  uint32_t index = coordinates(rank)[ref.axis()];
  return index / (axisList[ref.axis()].size / (ref.pre() * ref.size())) % ref.size();
}

uint32_t Mesh::position(uint32_t rank, std::span<const AxisRef> axes) const {
  uint32_t result = 0;
  for (const AxisRef &ref : axes)
    result = result * ref.size() + coordinate(rank, ref);
  return result;
}

std::vector<uint32_t> Mesh::group(uint32_t rank, std::span<const AxisRef> axes) const {
  // Start at the member whose coordinates along `axes` are all 0 and add each grid point's strides.
  std::vector<uint32_t> base = coordinates(rank);
  for (const AxisRef &ref : axes)
    base[ref.axis()] -= coordinate(rank, ref) * (axisList[ref.axis()].size / (ref.pre() * ref.size()));
  std::vector<uint32_t> result;
  for (uint64_t at = 0; at < gridSize(axes); ++at) {
    std::vector<uint32_t> point = base;
    uint64_t left = at;
    for (size_t i = axes.size(); i-- > 0; left /= axes[i].size())
      point[axes[i].axis()] +=
          left % axes[i].size() * (axisList[axes[i].axis()].size / (axes[i].pre() * axes[i].size()));
    result.push_back(this->rank(point));
  }
  return result;
}

static uint64_t ceilDiv(uint64_t n, uint64_t d) { return n / d + (n % d != 0); }

Range shard(const Mesh &mesh, uint32_t rank, uint64_t n, std::span<const AxisRef> axes) {
  uint64_t begin = 0, left = n, end = n;
  for (const AxisRef &ref : axes) {
    left = ceilDiv(left, ref.size());
    begin += mesh.coordinate(rank, ref) * left;
    end = std::min(end, begin + left);
  }
  begin = std::min(begin, end);
  return {begin, end};
}

uint64_t paddedExtent(uint64_t n, std::span<const AxisRef> axes) {
  for (const AxisRef &ref : axes)
    n = ceilDiv(n, ref.size());
  return n;
}

uint64_t gridSize(std::span<const AxisRef> axes) {
  uint64_t result = 1;
  for (const AxisRef &ref : axes)
    result *= ref.size();
  return result;
}

std::span<const AxisRef> axesOf(const flatbuffers::Vector<const AxisRef *> *axes) {
  if (!axes)
    return {};
  return {reinterpret_cast<const AxisRef *>(axes->Data()), axes->size()};
}

// Of a State or a LogicalShape.
template <class Value> static std::span<const AxisRef> splitOf(const Value &value, uint32_t dim) {
  if (!value.split() || dim >= value.split()->size())
    return {};
  return axesOf(value.split()->Get(dim)->axes());
}

template <class Value> static std::vector<Range> boxOf(const Mesh &mesh, uint32_t rank, const Value &value) {
  std::vector<Range> result;
  for (uint32_t dim = 0; value.shape() && dim < value.shape()->size(); ++dim)
    result.push_back(shard(mesh, rank, value.shape()->Get(dim), splitOf(value, dim)));
  return result;
}

template <class Value> static std::vector<uint64_t> paddedShapeOf(const Value &value) {
  std::vector<uint64_t> result;
  for (uint32_t dim = 0; value.shape() && dim < value.shape()->size(); ++dim)
    result.push_back(paddedExtent(value.shape()->Get(dim), splitOf(value, dim)));
  return result;
}

std::vector<Range> box(const Mesh &mesh, uint32_t rank, const State &state) { return boxOf(mesh, rank, state); }
std::vector<uint64_t> paddedShape(const State &state) { return paddedShapeOf(state); }
std::vector<Range> box(const Mesh &mesh, uint32_t rank, const LogicalShape &value) { return boxOf(mesh, rank, value); }
std::vector<uint64_t> paddedShape(const LogicalShape &value) { return paddedShapeOf(value); }

int64_t value(const Mesh &mesh, uint32_t rank, const RankScalar &scalar) {
  if (scalar.kind() == RankScalarKind::Number)
    return static_cast<int64_t>(scalar.size());
  std::span<const AxisRef> axes = axesOf(scalar.axes());
  if (scalar.behind()) {
    std::vector<uint32_t> ring = mesh.group(rank, axes);
    rank = ring[(mesh.position(rank, axes) + ring.size() - scalar.behind() % ring.size()) % ring.size()];
  }
  Range range = shard(mesh, rank, scalar.size(), axes);
  return static_cast<int64_t>(scalar.kind() == RankScalarKind::Offset ? range.begin : range.size());
}

std::vector<uint32_t> members(const Mesh &mesh, uint32_t rank, const Communicator &communicator) {
  std::span<const AxisRef> axes = axesOf(communicator.axes());
  std::vector<uint32_t> group = mesh.group(rank, axes);
  std::vector<uint32_t> result;
  if (communicator.kind() == CommunicatorKind::Edge)
    result = {group[communicator.from()], group[communicator.to()]};
  else if (communicator.coordinates() && communicator.coordinates()->size())
    for (uint32_t at : *communicator.coordinates())
      result.push_back(group[at]);
  else
    return group;
  if (std::find(result.begin(), result.end(), rank) == result.end())
    result.clear();
  return result;
}

uint64_t sizeOf(DType type) {
  switch (type) {
  case DType::F64:
  case DType::I64:
    return 8;
  case DType::BF16:
  case DType::F16:
    return 2;
  default:
    return 4;
  }
}

uint32_t stageOf(const Mesh &mesh, const Program &program, uint32_t rank) {
  return program.stageAxis() < 0 ? 0 : mesh.coordinates(rank)[program.stageAxis()];
}

} // namespace hocket::program
