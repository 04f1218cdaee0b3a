// The table of local types and transfers, and what it makes of shapes.
#include "dialect/Dist/LocalTypes.h"
using namespace mlir;

namespace hocket::dist {

llvm::hash_code hash_value(const LocalType &type) {
  return llvm::hash_combine(static_cast<uint32_t>(type.kind), type.dim);
}

std::string text(const LocalType &type) {
  std::string word = stringifyLocalKind(type.kind).str();
  return type.kind == LocalKind::Varying ? word + "(" + std::to_string(type.dim) + ")" : word;
}

LocalType gradientType(const LocalType &type) {
  if (type.kind == LocalKind::Replicated)
    return {LocalKind::Partial};
  if (type.kind == LocalKind::Partial)
    return {LocalKind::Replicated};
  return type;
}
LocalTypeAttr gradientType(LocalTypeAttr types) {
  return LocalTypeAttr::get(types.getContext(), llvm::map_to_vector(types.getAxes(), [](const LocalType &type) {
                              return gradientType(type);
                            }));
}

namespace {
struct Row {
  LocalKind from, to;
  Transfer by;
};
using enum LocalKind;
constexpr Row table[] = {
    {Partial, Invariant, Transfer::AllReduce},  {Invariant, Replicated, Transfer::Free},
    {Partial, Replicated, Transfer::AllReduce}, {Partial, Varying, Transfer::ReduceScatter},
    {Varying, Replicated, Transfer::AllGather}, {Varying, Invariant, Transfer::AllGather},
    {Invariant, Varying, Transfer::Slice},      {Varying, Varying, Transfer::AllToAll},
};
} // namespace

std::optional<Transfer> transferBetween(const LocalType &from, const LocalType &to) {
  for (const Row &row : table)
    if (row.from == from.kind && row.to == to.kind && !(from == to))
      return row.by;
  return {};
}

std::string transfersFrom(LocalKind kind) {
  std::string all;
  for (const Row &row : table)
    if (row.from == kind)
      all += (all.empty() ? "" : ", ") + stringifyLocalKind(row.from).str() + " to " +
             stringifyLocalKind(row.to).str() +
             (row.by == Transfer::Free ? "" : " by " + stringifyTransfer(row.by).str());
  return all.empty() ? "none" : all;
}

FailureOr<RankedTensorType> localTypeIn(ArrayAttr axes, RankedTensorType global, ArrayRef<LocalType> types,
                                        std::string &fault) {
  SmallVector<int64_t> shape(global.getShape());
  llvm::raw_string_ostream os(fault);
  for (auto [index, type] : llvm::enumerate(types)) {
    if (type.kind != LocalKind::Varying)
      continue;
    auto axis = cast<MeshAxisAttr>(axes[index]);
    int64_t dim = type.dim, rank = global.getRank();
    if (dim < 0 || dim >= rank) {
      os << "is " << text(type) << " over \"" << axis.getName() << "\", but it has " << rank
         << " dimensions; allowed: " << (rank ? "0 to " + std::to_string(rank - 1) : std::string("none"));
      return failure();
    }
    if (llvm::any_of(types.take_front(index),
                     [&](const LocalType &other) { return other.kind == LocalKind::Varying && other.dim == dim; })) {
      os << "varies in dimension " << dim << " over two axes; in a region one axis cuts a dimension";
      return failure();
    }
    if (ShapedType::isDynamic(shape[dim])) {
      os << "is " << text(type) << " over \"" << axis.getName()
         << "\", but that dimension is the batch, which the plan splits";
      return failure();
    }
    if (shape[dim] % axis.getSize() != 0) {
      os << "has " << shape[dim] << " elements in dimension " << dim << ", which is no multiple of the "
         << axis.getSize() << " ranks of \"" << axis.getName() << "\"";
      return failure();
    }
    shape[dim] /= axis.getSize();
  }
  return RankedTensorType::get(shape, global.getElementType());
}

RankedTensorType globalTypeOf(ArrayAttr axes, RankedTensorType local, ArrayRef<LocalType> types) {
  SmallVector<int64_t> shape(local.getShape());
  for (auto [index, type] : llvm::enumerate(types))
    if (type.kind == LocalKind::Varying && !ShapedType::isDynamic(shape[type.dim]))
      shape[type.dim] *= cast<MeshAxisAttr>(axes[index]).getSize();
  return RankedTensorType::get(shape, local.getElementType());
}

bool hasGradient(Type type) { return isa<FloatType>(getElementTypeOrSelf(type)); }

SmallVector<LocalTypeAttr> bodyArguments(LocalOp op) {
  return llvm::to_vector(op.getArgTypes().getAsRange<LocalTypeAttr>());
}
SmallVector<LocalTypeAttr> backwardArguments(LocalOp op) {
  SmallVector<LocalTypeAttr> all = bodyArguments(op);
  for (auto [result, types] : llvm::zip(op.getYs(), op.getResultTypesAttr().getAsRange<LocalTypeAttr>()))
    if (hasGradient(result.getType()))
      all.push_back(gradientType(types));
  return all;
}
} // namespace hocket::dist
