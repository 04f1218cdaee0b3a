// Collectives and rank-dependent numbers: what can be known of each from its local types alone.
#include "dialect/Dist/AxesSyntax.h"
using namespace mlir;
using namespace hocket::dist;

namespace {
/// All checks are made, so that every fault is reported.
bool all(std::initializer_list<bool> checks) {
  return llvm::all_of(checks, [](bool sound) { return sound; });
}

bool checkDim(Operation *op, StringRef word, int64_t dim, RankedTensorType type) {
  if (dim >= 0 && dim < type.getRank())
    return true;
  op->emitOpError() << "has " << word << ' ' << dim << " on a value of " << type.getRank() << " dimensions; allowed: "
                    << (type.getRank() == 0 ? std::string("none") : "0 to " + std::to_string(type.getRank() - 1));
  return false;
}

bool checkAxes(Operation *op, AxesAttr axes) {
  if (!axes.empty())
    return true;
  op->emitOpError() << "goes over no axis; at least one is needed";
  return false;
}

bool checkCause(Operation *op, StringRef cause) {
  if (!cause.empty())
    return true;
  op->emitOpError() << "has an empty cause; name the tactic and the op that need it";
  return false;
}

/// The types agree but for the dimensions in `free`.
bool checkSameBut(Operation *op, RankedTensorType x, RankedTensorType y, ArrayRef<int64_t> free) {
  if (x.getElementType() != y.getElementType()) {
    op->emitOpError() << "makes elements of " << y.getElementType() << " from elements of " << x.getElementType();
    return false;
  }
  if (x.getRank() != y.getRank()) {
    op->emitOpError() << "makes " << y.getRank() << " dimensions from " << x.getRank();
    return false;
  }
  bool sound = true;
  for (int64_t i = 0; i < x.getRank(); ++i)
    if (!llvm::is_contained(free, i) && x.getDimSize(i) != y.getDimSize(i)) {
      op->emitOpError() << "changes dimension " << i << " from " << x.getDimSize(i) << " to " << y.getDimSize(i);
      sound = false;
    }
  return sound;
}

/// Dimension `dim` of `longer` holds more than one and at most all shards like the one of `shorter`.
bool checkShorter(Operation *op, int64_t dim, RankedTensorType longer, RankedTensorType shorter) {
  if (shorter.getDimSize(dim) <= longer.getDimSize(dim))
    return true;
  op->emitOpError() << "has a shard of " << shorter.getDimSize(dim) << " elements of a dimension " << dim << " of "
                    << longer.getDimSize(dim);
  return false;
}
} // namespace

LogicalResult AllReduceOp::verify() {
  bool sound = all({checkAxes(*this, getAxes()), checkCause(*this, getCause())});
  if (getXs().empty())
    sound = false, emitOpError() << "joins no value; at least one is needed";
  if (getXs().size() != getYs().size())
    return emitOpError() << "has " << getXs().size() << " operands and " << getYs().size()
                         << " results; each operand has one";
  for (auto [x, y] : llvm::zip(getXs(), getYs()))
    sound &= checkSameBut(*this, cast<RankedTensorType>(x.getType()), cast<RankedTensorType>(y.getType()), {});
  for (int64_t stage : getStages().value_or(ArrayRef<int64_t>()))
    if (stage < 0)
      sound = false, emitOpError() << "names stage " << stage << "; stages count from 0";
  return success(sound);
}

LogicalResult ReduceScatterOp::verify() {
  auto x = getX().getType(), y = getY().getType();
  bool sound = all({checkAxes(*this, getAxes()), checkCause(*this, getCause())});
  if (!checkDim(*this, "dim", getDim(), x) || !checkSameBut(*this, x, y, getDim()))
    return failure();
  return success(checkShorter(*this, getDim(), x, y) && sound);
}

LogicalResult AllGatherOp::verify() {
  auto x = getX().getType(), y = getY().getType();
  bool sound = all({checkAxes(*this, getAxes()), checkCause(*this, getCause())});
  if (!checkDim(*this, "dim", getDim(), x) || !checkSameBut(*this, x, y, getDim()))
    return failure();
  return success(checkShorter(*this, getDim(), y, x) && sound);
}

LogicalResult AllToAllOp::verify() {
  auto x = getX().getType(), y = getY().getType();
  bool sound = all({checkAxes(*this, getAxes()), checkCause(*this, getCause())});
  if (!all({checkDim(*this, "split dim", getSplitDim(), x), checkDim(*this, "gather dim", getGatherDim(), x)}))
    return failure();
  if (getSplitDim() == getGatherDim())
    return emitOpError() << "splits and gathers dimension " << getSplitDim() << "; two dimensions are needed";
  int64_t free[] = {static_cast<int64_t>(getSplitDim()), static_cast<int64_t>(getGatherDim())};
  if (!checkSameBut(*this, x, y, free))
    return failure();
  return success(all({checkShorter(*this, getSplitDim(), x, y), checkShorter(*this, getGatherDim(), y, x), sound}));
}

LogicalResult ShiftOp::verify() {
  return success(all({checkAxes(*this, getAxes()), checkCause(*this, getCause()),
                      checkSameBut(*this, getX().getType(), getY().getType(), {})}));
}

LogicalResult SliceOp::verify() {
  auto x = getX().getType(), y = getY().getType();
  bool sound = checkAxes(*this, getAxes());
  if (!checkDim(*this, "dim", getDim(), x) || !checkSameBut(*this, x, y, getDim()))
    return failure();
  return success(checkShorter(*this, getDim(), x, y) && sound);
}

LogicalResult MaskOp::verify() {
  auto x = getX().getType(), y = getY().getType();
  bool sound = checkAxes(*this, getAxes());
  if (!checkDim(*this, "dim", getDim(), x) || !checkSameBut(*this, x, y, {}))
    return failure();
  if (static_cast<int64_t>(getSize()) < 1)
    sound = false, emitOpError() << "masks a dimension of " << getSize() << " elements; at least 1 is needed";
  return success(sound);
}

LogicalResult OffsetOp::verify() {
  bool sound = checkAxes(*this, getAxes());
  if (static_cast<int64_t>(getSize()) < 1)
    sound = false, emitOpError() << "speaks of a dimension of " << getSize() << " elements; at least 1 is needed";
  return success(sound);
}
void OffsetOp::getAsmResultNames(OpAsmSetValueNameFn set) {
  std::string name = "offset";
  for (const AxisRef &ref : getAxes().getRefs())
    name += "_" + ref.name.str();
  set(getY(), name);
}
