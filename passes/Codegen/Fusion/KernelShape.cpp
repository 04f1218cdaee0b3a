// See KernelShape.h.
#include "passes/Codegen/Fusion/KernelShape.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/TypeSwitch.h"
#include <numeric>
using namespace mlir;
using namespace hocket::nn;

namespace hocket::codegen {
namespace {
RankedTensorType tensorOf(Value value) { return dyn_cast<RankedTensorType>(value.getType()); }

int64_t extent(Value value, int64_t first, int64_t last) {
  auto shape = tensorOf(value).getShape();
  return std::accumulate(shape.begin() + first, shape.begin() + last, int64_t(1), std::multiplies<>());
}
int64_t rankOf(Value value) { return tensorOf(value).getRank(); }
int64_t rowLength(Value value) { return rankOf(value) ? tensorOf(value).getShape().back() : 1; }

/// What an op asks of the domain: its elements, and the number of columns, or (divisor) what the columns must divide.
struct Demand {
  int64_t elements = 0, columns = 0, divisor = 0;
};

Demand rowsOf(Value x) { return {elementsOf(x), rowLength(x), 0}; }

/// For an op that moves [A, n, B]: the elements of its domain and how many lie side by side.
Demand moveDemand(Operation *op) {
  return TypeSwitch<Operation *, Demand>(op)
      .Case([](UnstackOp move) -> Demand {
        return {elementsOf(move.getX()) / tensorOf(move.getX()).getDimSize(move.getDim()), 0,
                extent(move.getX(), move.getDim() + 1, rankOf(move.getX()))};
      })
      .Case([](StackOp move) -> Demand {
        Value x = move.getXs().front();
        return {elementsOf(x), 0, extent(x, move.getDim(), rankOf(x))};
      })
      .Case([](step::SliceOp move) -> Demand {
        return {elementsOf(move.getY()), 0, extent(move.getY(), move.getDim(), rankOf(move.getY()))};
      })
      .Case([](step::MaskOp move) -> Demand {
        return {elementsOf(move.getY()), 0, extent(move.getY(), move.getDim(), rankOf(move.getY()))};
      })
      .Case([](step::PackOp move) -> Demand {
        return {elementsOf(move.getY()), 0, extent(move.getY(), move.getDim() + 1, rankOf(move.getY()))};
      })
      .Case([](step::UnpackOp move) -> Demand {
        return {elementsOf(move.getX()), extent(move.getX(), move.getDim() + 1, rankOf(move.getX())), 0};
      })
      .Case([](step::PlaceOp move) -> Demand {
        return {elementsOf(move.getX()), 0, elementsOf(move.getX()) / static_cast<int64_t>(move.getPieces())};
      })
      .Case([](step::PartOp move) -> Demand {
        return {elementsOf(move.getY()), 0, elementsOf(move.getY()) / static_cast<int64_t>(move.getPieces())};
      })
      .Case([](EmbeddingOp gather) -> Demand { return {elementsOf(gather.getY()), 0, rowLength(gather.getTable())}; })
      .Case([](PositionsOp positions) -> Demand {
        return {elementsOf(positions.getY()), 0, rowLength(positions.getY())};
      })
      .Case([](DropoutOp dropout) -> Demand { return {elementsOf(dropout.getY()), 0, rowLength(dropout.getY())}; })
      .Case([](ConcatOp move) -> Demand {
        int64_t divisor = 0;
        for (Value x : move.getXs())
          divisor = std::gcd(divisor, extent(x, move.getDim(), rankOf(x)));
        return {elementsOf(move.getY()), 0, divisor};
      })
      .Case([](PartOp move) -> Demand {
        return {elementsOf(move.getY()), 0, extent(move.getY(), move.getDim(), rankOf(move.getY()))};
      })
      .Case([](PadOp move) -> Demand {
        Value y = move.getY();
        int64_t before = move.getFromAttr().getInt() * extent(y, move.getDim() + 1, rankOf(y));
        int64_t piece = extent(move.getX(), move.getDim(), rankOf(y)), all = extent(y, move.getDim(), rankOf(y));
        return {elementsOf(y), 0, std::gcd(std::gcd(before, piece), all)};
      })
      .Case([](SpreadOp move) -> Demand {
        return {elementsOf(move.getY()), 0, extent(move.getY(), move.getDim() + 1, rankOf(move.getY()))};
      })
      .Case([](SumOverOp move) -> Demand {
        return {elementsOf(move.getY()), 0, extent(move.getX(), move.getDim() + 1, rankOf(move.getX()))};
      })
      .Default([](Operation *) { return Demand(); });
}

/// Ops whose domain is fixed whoever else is in the kernel.
Demand fixedDemand(Operation *op) {
  return TypeSwitch<Operation *, Demand>(op)
      .Case<LayerNormOp, RmsNormOp, RowMaxOp, RowSumExpOp, PickOp>([](auto row) { return rowsOf(row.getX()); })
      .Case<LayerNormGradOp, RmsNormGradOp, LayerNormParamGradOp, RmsNormParamGradOp>(
          [](auto row) { return rowsOf(row.getX()); })
      .Case([](AttentionMergeOp row) { return rowsOf(row.getA()); })
      .Case([](CrossEntropyGradOp row) { return rowsOf(row.getLogits()); })
      .Case([](SumOp sum) -> Demand {
        int64_t kept = elementsOf(sum.getY());
        return {elementsOf(sum.getX()), kept == 1 ? elementsOf(sum.getX()) : kept, 0};
      })
      .Case([](SquareSumOp sum) -> Demand { return {elementsOf(sum.getX()), elementsOf(sum.getX()), 0}; })
      .Case([](CountTokensOp sum) -> Demand { return {elementsOf(sum.getLabels()), elementsOf(sum.getLabels()), 0}; })
      .Case([](CosineRateOp) -> Demand { return {1, 1, 0}; })
      .Default([](Operation *) { return Demand(); });
}

bool isMove(Operation *op) {
  return isa<UnstackOp, StackOp, step::SliceOp, step::MaskOp, step::PackOp, step::UnpackOp, step::PlaceOp, step::PartOp,
             EmbeddingOp, PositionsOp, ConcatOp, PartOp, PadOp, SpreadOp, SumOverOp, DropoutOp>(op);
}
/// Operands that an op reads by an address of its own, so that they must come from outside of the kernel.
bool readsByAddress(Operation *op, unsigned index) {
  if (isa<UnstackOp, step::SliceOp, step::PackOp, step::UnpackOp, step::PartOp, EmbeddingOp, ConcatOp, PartOp, PadOp,
          SpreadOp, SumOverOp>(op))
    return true;
  if (isa<DropoutOp>(op))
    return index > 0; // positions and draws
  if (isa<step::PlaceOp>(op))
    return index == 1; // the bucket, which is not read but written over in part
  if (isa<LayerNormParamGradOp, RmsNormParamGradOp>(op))
    return true; // whole rows are read again for each piece of the columns
  return isa<PickOp>(op) && index == 0;
}

class ShapeFinder {
public:
  explicit ShapeFinder(ArrayRef<Operation *> ops) : ops(ops), inside(ops.begin(), ops.end()) {}

  std::optional<KernelShape> run() {
    if (ops.empty())
      return std::nullopt;
    if (llvm::any_of(ops, [](Operation *op) { return roleOf(op) == Role::Alone; }))
      return std::nullopt;
    if (!findDomain() || !allowedTogether())
      return std::nullopt;
    for (Operation *op : ops)
      if (!place(op))
        return std::nullopt;
    return shape;
  }

private:
  bool isInside(Value value) const { return value.getDefiningOp() && inside.contains(value.getDefiningOp()); }

  bool findDomain() {
    for (Operation *op : ops) {
      Demand fixed = fixedDemand(op);
      if (!fixed.elements && isa<step::UnpackOp>(op))
        fixed = moveDemand(op);
      if (!fixed.elements)
        continue;
      int64_t rows = fixed.elements / fixed.columns;
      if (shape.rows && (shape.rows != rows || shape.columns != fixed.columns))
        return false;
      shape.rows = rows, shape.columns = fixed.columns;
    }
    if (shape.rows)
      return true;
    int64_t total = 0, divisor = 0;
    for (Operation *op : ops)
      total = std::max(total, domainElements(op));
    for (Operation *op : ops)
      divisor = std::gcd(divisor, sideBySide(op, total));
    if (total == 0)
      return false;
    shape.columns = divisor;
    shape.rows = total / divisor;
    return true;
  }
  static int64_t domainElements(Operation *op) {
    return isMove(op) ? moveDemand(op).elements : elementsOf(op->getResult(0));
  }
  /// How many elements of the op lie side by side in all of its operands (a repeated operand, a moved piece).
  static int64_t sideBySide(Operation *op, int64_t total) {
    if (domainElements(op) != total)
      return total;
    int64_t divisor = isMove(op) ? std::gcd(moveDemand(op).divisor, total) : total;
    if (!isMove(op))
      for (Value operand : op->getOperands())
        if (tensorOf(operand) && elementsOf(operand) > 1)
          divisor = std::gcd(divisor, elementsOf(operand));
    return divisor;
  }

  bool allowedTogether() const {
    bool rows = false, columns = false, statistics = false, elements = false;
    for (Operation *op : ops) {
      Role role = roleOf(op);
      rows |= role == Role::Rows;
      columns |= role == Role::Columns;
      statistics |= isa<LayerNormParamGradOp, RmsNormParamGradOp>(op);
      elements |= role == Role::Element && elementsOf(op->getResult(0)) == shape.elements() && shape.rows > 1;
      if (role == Role::Spread)
        for (Value result : op->getResults())
          if (llvm::any_of(result.getUsers(), [&](Operation *user) { return inside.contains(user); }))
            return false;
      for (OpOperand &operand : op->getOpOperands())
        if (isInside(operand.get()) && readsByAddress(op, operand.getOperandNumber()))
          return false;
      if (isa<step::UnpackOp, step::PlaceOp>(op) && ops.size() > 1)
        return false;
    }
    return !(columns && rows) && !(statistics && elements);
  }

  bool place(Operation *op) {
    Role role = roleOf(op);
    if (isMove(op))
      return placeMove(op);
    if (role == Role::Columns)
      return placeAll(op, Space::Column);
    if (isa<RowMaxOp, RowSumExpOp, PickOp, SumOp, SquareSumOp, CountTokensOp, CosineRateOp>(op))
      return placeAll(op, Space::Row);
    if (auto merge = dyn_cast<AttentionMergeOp>(op))
      return placeAll(op, Space::Full) && (shape.spaces[merge.getLse()] = Space::Row, true);
    if (role == Role::Rows)
      return placeAll(op, Space::Full);
    return placeElement(op);
  }
  bool placeMove(Operation *op) {
    Demand demand = moveDemand(op);
    int64_t side = demand.columns ? demand.columns : demand.divisor;
    return demand.elements == shape.elements() && side % shape.columns == 0 && placeAll(op, Space::Full);
  }
  bool placeElement(Operation *op) {
    int64_t elements = elementsOf(op->getResult(0));
    std::optional<Space> space;
    for (Value operand : op->getOperands())
      if (tensorOf(operand) && isInside(operand) && elementsOf(operand) == elements) {
        Space found = shape.spaces.lookup(operand);
        if (space && *space != found)
          return false;
        space = found;
      }
    if (!space) {
      if (elements == shape.elements() && shape.elements() > 1)
        space = Space::Full;
      else if (elements == shape.rows)
        space = Space::Row;
      else
        return false;
    }
    return placeAll(op, *space);
  }
  /// Records the space of the results once every operand can be read there.
  bool placeAll(Operation *op, Space space) {
    for (Value result : op->getResults())
      shape.spaces[result] = space;
    for (OpOperand &operand : op->getOpOperands()) {
      Value value = operand.get();
      std::optional<Space> wanted =
          tensorOf(value) ? operandSpace(op, operand.getOperandNumber(), shape) : std::nullopt;
      if (!wanted)
        continue;
      if (isInside(value) ? shape.spaces.lookup(value) != *wanted : !readable(elementsOf(value), *wanted))
        return false;
    }
    return true;
  }
  bool readable(int64_t elements, Space space) const {
    if (elements == 1)
      return true;
    switch (space) {
    case Space::Full:
      return elements % shape.columns == 0 && shape.elements() % elements == 0;
    case Space::Row:
      return shape.rows % elements == 0;
    case Space::Column:
      return elements == shape.columns;
    }
    llvm_unreachable("all spaces are listed");
  }

  ArrayRef<Operation *> ops;
  llvm::SmallPtrSet<Operation *, 16> inside;
  KernelShape shape;
};
} // namespace

int64_t elementsOf(Value tensor, int64_t firstDim) {
  return ShapedType::getNumElements(cast<RankedTensorType>(tensor.getType()).getShape().drop_front(firstDim));
}

Role roleOf(Operation *op) {
  if (isa<LinearOp, MatmulOp, RouterLogitsOp>(op))
    return Role::Product;
  if (isa<AttentionOp, AttentionGradOp, RopeOp, EmbeddingGradOp, RouterOp, RouterGradOp, DispatchOp, CombineOp,
          CombineGradOp>(op))
    return Role::Alone;
  if (isa<StackOp, step::UnpackOp, step::PlaceOp>(op))
    return Role::Spread;
  if (isa<LayerNormParamGradOp, RmsNormParamGradOp>(op))
    return Role::Columns;
  if (auto sum = dyn_cast<SumOp>(op))
    return elementsOf(sum.getY()) == 1 ? Role::Rows : Role::Columns;
  if (isa<LayerNormOp, RmsNormOp, LayerNormGradOp, RmsNormGradOp, RowMaxOp, RowSumExpOp, PickOp, CrossEntropyGradOp,
          SquareSumOp, CountTokensOp, CosineRateOp, AttentionMergeOp>(op))
    return Role::Rows;
  if (isMove(op) || isa<ScalarOpInterface>(op) || isa<AdamWOp>(op))
    return Role::Element;
  return Role::Other;
}

std::optional<Space> operandSpace(Operation *op, unsigned index, const KernelShape &shape) {
  if (isa<LayerNormParamGradOp, RmsNormParamGradOp>(op))
    return Space::Full;
  if (readsByAddress(op, index) || isa<PositionsOp>(op))
    return std::nullopt;
  return TypeSwitch<Operation *, std::optional<Space>>(op)
      .Case([&](RowSumExpOp) { return index == 0 ? Space::Full : Space::Row; })
      .Case([&](AttentionMergeOp) { return index % 2 == 0 ? Space::Full : Space::Row; })
      .Case([&](PickOp) { return Space::Row; })
      .Case([&](CosineRateOp) { return Space::Row; })
      // dsum, logits, labels, lse
      .Case([&](CrossEntropyGradOp) { return index == 2 || index == 3 ? Space::Row : Space::Full; })
      .Case<SumOp, SquareSumOp, CountTokensOp, RowMaxOp>([&](auto) { return Space::Full; })
      .Default([&](Operation *other) { return shape.spaces.lookup(other->getResult(0)); });
}

std::optional<KernelShape> kernelShape(ArrayRef<Operation *> ops) { return ShapeFinder(ops).run(); }
} // namespace hocket::codegen
