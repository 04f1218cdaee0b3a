// The mesh, and the arithmetic of shards on it.
#include "dialect/Dist/AxesSyntax.h"
using namespace mlir;
using namespace hocket::dist;

LogicalResult MeshOp::verify() {
  bool sound = true;
  llvm::StringSet<> seen;
  int64_t world = 1;
  for (auto axis : getAxes()) {
    auto meshAxis = dyn_cast<MeshAxisAttr>(axis);
    if (!meshAxis)
      return emitOpError() << "holds " << axis << " where an axis with its size is expected, as in \"tp\"=2";
    if (meshAxis.getName().empty())
      sound = false, emitOpError() << "has an axis without a name";
    else if (!seen.insert(meshAxis.getName()).second)
      sound = false, emitOpError() << "names axis \"" << meshAxis.getName() << "\" twice";
    if (meshAxis.getSize() < 1)
      sound = false, emitOpError() << "gives axis \"" << meshAxis.getName() << "\" " << meshAxis.getSize()
                                   << " devices; at least 1 is needed";
    else if (llvm::MulOverflow(world, meshAxis.getSize(), world) || world > std::numeric_limits<int32_t>::max())
      return emitOpError() << "has more than 2147483647 devices in all";
  }
  return success(sound);
}

int64_t MeshOp::getWorldSize() {
  int64_t world = 1;
  for (auto axis : getAxes().getAsRange<MeshAxisAttr>())
    world *= axis.getSize();
  return world;
}
int64_t MeshOp::getAxisSize(StringRef name) {
  int64_t index = getAxisIndex(name);
  return index < 0 ? 0 : cast<MeshAxisAttr>(getAxes()[index]).getSize();
}
int64_t MeshOp::getAxisIndex(StringRef name) {
  for (auto [i, axis] : llvm::enumerate(getAxes().getAsRange<MeshAxisAttr>()))
    if (axis.getName() == name)
      return i;
  return -1;
}

int64_t hocket::dist::axisSize(MeshOp mesh, const AxisRef &ref) {
  int64_t whole = mesh.getAxisSize(ref.name);
  return ref.isWholeAxis() || whole == 0 ? whole : ref.size;
}
int64_t hocket::dist::axesSize(MeshOp mesh, ArrayRef<AxisRef> refs) {
  int64_t product = 1;
  for (const AxisRef &ref : refs)
    product *= axisSize(mesh, ref);
  return product;
}
int64_t hocket::dist::localSize(MeshOp mesh, int64_t n, ArrayRef<AxisRef> axes) {
  for (const AxisRef &ref : axes)
    if (int64_t size = axisSize(mesh, ref); size > 1)
      n = llvm::divideCeil(n, size);
  return n;
}
bool hocket::dist::isUneven(MeshOp mesh, int64_t n, ArrayRef<AxisRef> axes) {
  return localSize(mesh, n, axes) * axesSize(mesh, axes) != n;
}
RankedTensorType hocket::dist::localType(MeshOp mesh, RankedTensorType global, ShardingAttr sharding) {
  SmallVector<int64_t> shape(global.getShape());
  for (auto [size, dim] : llvm::zip(shape, sharding.getDims()))
    if (!ShapedType::isDynamic(size))
      size = localSize(mesh, size, dim.axes);
  return RankedTensorType::get(shape, global.getElementType(), global.getEncoding());
}
