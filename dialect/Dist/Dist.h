// The dist dialect: where each value lives. Ops and attributes are declared in Dist*.td; here is what C++ needs beside
// them.
#pragma once
#include "dialect/NN/NN.h"
#include "mlir/IR/Builders.h"

namespace hocket::dist {
/// A mesh axis, or the sub-axis "name":(pre)size of it. size 0 stands for the whole axis.
struct AxisRef {
  mlir::StringAttr name;
  int64_t pre = 1;
  int64_t size = 0;
  bool isWholeAxis() const { return size == 0; }
  bool operator==(const AxisRef &) const = default;
};
llvm::hash_code hash_value(const AxisRef &ref);

/// The axes that split one dimension, major to minor; an open dimension may be split further by propagation.
struct DimSharding {
  llvm::SmallVector<AxisRef> axes;
  bool open = false;
  bool operator==(const DimSharding &) const = default;
};
llvm::hash_code hash_value(const DimSharding &dim);
} // namespace hocket::dist

#include "dialect/Dist/DistDialect.h.inc"
#include "dialect/Dist/DistEnums.h.inc"

namespace hocket::dist {
/// What a value of a manual region is along one axis; `dim` of varying ones only.
struct LocalType {
  LocalKind kind = LocalKind::Invariant;
  int64_t dim = -1;
  bool operator==(const LocalType &) const = default;
};
llvm::hash_code hash_value(const LocalType &type);
} // namespace hocket::dist

#define GET_ATTRDEF_CLASSES
#include "dialect/Dist/DistAttrs.h.inc"
#define GET_OP_CLASSES
#include "dialect/Dist/DistOps.h.inc"

namespace hocket::dist {
/// Devices along an axis or sub-axis; 0 if the mesh has no such axis.
int64_t axisSize(MeshOp mesh, const AxisRef &ref);
int64_t axesSize(MeshOp mesh, llvm::ArrayRef<AxisRef> refs); ///< product
/// Elements of the padded shard of a dimension of n elements: ceil(… ceil(ceil(n / d0) / d1) …).
///   10 over 4 is 3, 5 over 4 is 2, 50257 over 2 is 25129
int64_t localSize(MeshOp mesh, int64_t n, llvm::ArrayRef<AxisRef> axes);
/// The padded local type of a value of type `global` under `sharding`.
mlir::RankedTensorType localType(MeshOp mesh, mlir::RankedTensorType global, ShardingAttr sharding);
/// True if some shard along the dimension has padding.
bool isUneven(MeshOp mesh, int64_t n, llvm::ArrayRef<AxisRef> axes);
/// `{"dp"}`, `{"tp":(1)2}`, as in IR.
std::string axesText(llvm::ArrayRef<AxisRef> refs);
} // namespace hocket::dist
