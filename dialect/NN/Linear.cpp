// Matrix products: linear, as users write it, and matmul, by a rule, which also holds the gradients of both.
#include "dialect/NN/Contraction.h"
#include "dialect/NN/ShapeCheck.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
using namespace mlir;
using namespace hocket::nn;

namespace {
/// Sums run over depth in order, whichever loop is inside: the one whose steps through b are short.
void multiply(const FactorRule &rule, const HostTensor &a, const HostTensor &b, HostTensor &y) {
  auto [batch, rows, columns, depth] = Contraction(rule, a.shape, b.shape, y.shape);
  bool columnsInside = columns.strideB < depth.strideB;
  const ContractionIndex &outer = columnsInside ? depth : columns, &inner = columnsInside ? columns : depth;
  std::fill(y.data.begin(), y.data.end(), 0.0);
  for (int64_t n = 0; n < batch.size; ++n)
    for (int64_t i = 0; i < rows.size; ++i) {
      const double *left = a.data.data() + n * batch.strideA + i * rows.strideA;
      double *sums = y.data.data() + n * batch.strideY + i * rows.strideY;
      for (int64_t j = 0; j < outer.size; ++j) {
        const double *right = b.data.data() + n * batch.strideB + j * outer.strideB;
        for (int64_t k = 0; k < inner.size; ++k)
          sums[j * outer.strideY + k * inner.strideY] +=
              left[j * outer.strideA + k * inner.strideA] * right[k * inner.strideB];
      }
    }
}

/// A multiply-add for every point of the product of all factors.
int64_t productFlops(const FactorRule &rule) {
  int64_t flops = 2;
  for (const Factor &factor : rule.factors)
    flops *= factor.size;
  return flops;
}

/// Names for the dimensions of a linear: rows of x, contracted, columns of w.
struct LinearNames {
  std::string rows, depth, columns;

  LinearNames(int64_t rowCount, int64_t depthCount, int64_t columnCount, bool transposed) {
    rows = leadingNames(rowCount);
    depth = choose(depthCount, depthCount == 1 ? "h" : depthCount == 2 ? "n d" : "c n d", "k");
    StringRef one = transposed ? "v" : depthCount == 1 ? "f" : "h";
    columns = choose(columnCount, columnCount == 1 ? one : columnCount == 2 ? "n d" : "c n d", "o");
  }

private:
  /// `wanted` if it has `count` names and all of them are free, else PREFIX0 PREFIX1 ….
  std::string choose(int64_t count, StringRef wanted, StringRef prefix) const {
    SmallVector<StringRef> used, names;
    llvm::SplitString(rows, used);
    llvm::SplitString(depth, used);
    llvm::SplitString(wanted, names);
    bool fits = static_cast<int64_t>(names.size()) == count &&
                llvm::none_of(names, [&](StringRef name) { return llvm::is_contained(used, name); });
    return fits ? wanted.str() : factorNames(prefix, count);
  }
};

/// Number of dimensions contracted; what is not a whole number from 1 on is left to the verifier.
int64_t contracted(LinearOp op) {
  return op.getTransposed()
             ? 1
             : (tensorType(op.getX()).getRank() + tensorType(op.getW()).getRank() - tensorType(op.getY()).getRank()) /
                   2;
}

LinearNames namesOf(LinearOp op) {
  int64_t depth = contracted(op);
  return LinearNames(tensorType(op.getX()).getRank() - depth, depth, tensorType(op.getW()).getRank() - depth,
                     op.getTransposed());
}

std::string orScalar(const std::string &names) { return names.empty() ? "_" : names; }

/// "b s h", "h f" or "v h", and "b s f" of a linear's x, w and y.
struct LinearTerms {
  std::string x, w, y;
  explicit LinearTerms(LinearOp op) {
    LinearNames names = namesOf(op);
    x = joinNames(names.rows, names.depth);
    w = op.getTransposed() ? joinNames(names.columns, names.depth) : joinNames(names.depth, names.columns);
    y = orScalar(joinNames(names.rows, names.columns));
  }
};
} // namespace

// ---- linear ---------------------------------------------------------------------------------------------------------
LogicalResult LinearOp::verify() {
  ShapeCheck check(*this);
  check.floating({{"x", getX()}, {"w", getW()}}).widened({"y", getY()}, {"x", getX()});
  int64_t x = tensorType(getX()).getRank(), w = tensorType(getW()).getRank(), y = tensorType(getY()).getRank();
  if (getTransposed()) {
    bool xFits = check.rank({"x", getX()}, 1), wFits = check.rank({"w", getW()}, 2, 2);
    if (!xFits || !wFits || !check.rank({"y", getY()}, x, x, "the rank of x"))
      return failure();
  } else if ((x + w - y) % 2 != 0 || (x + w - y) / 2 < 1 || (x + w - y) / 2 > std::min(x, w)) {
    return check.fault() << "x of rank " << x << ", w of rank " << w << " and y of rank " << y << " contract (" << x
                         << " + " << w << " - " << y
                         << ") / 2 dimensions, expected a whole number, at least 1 and at most " << std::min(x, w);
  }
  LinearTerms terms(*this);
  return check.fits(terms.x + ", " + terms.w + " -> " + terms.y, "x, w -> y").result();
}

FactorRule LinearOp::getFactorRule() {
  LinearTerms terms(*this);
  return FactorRule::parse(*this, terms.x + ", " + terms.w + " -> " + terms.y)
      .linear({Linearity::Multi, Linearity::Multi});
}

void LinearOp::evaluate(ArrayRef<const HostTensor *> operands, MutableArrayRef<HostTensor> results) {
  multiply(getFactorRule(), *operands[0], *operands[1], results[0]);
}

int64_t LinearOp::getFlops() { return productFlops(getFactorRule()); }

void LinearOp::buildGradient(OpBuilder &builder, ValueRange resultGrads, const BitVector &needed,
                             MutableArrayRef<Value> operandGrads) {
  Value dy = resultGrads[0];
  if (!dy)
    return;
  LinearTerms terms(*this);
  if (needed[0])
    operandGrads[0] = make<MatmulOp>(builder, getLoc(), getX().getType(), dy, getW(),
                                     builder.getStringAttr(terms.y + ", " + terms.w + " -> " + terms.x));
  if (!needed[1])
    return;
  // The rows of dw come from the operand named first, as in w's own order.
  Value first = getTransposed() ? dy : getX(), second = getTransposed() ? getX() : dy;
  std::string rule = getTransposed() ? terms.y + ", " + terms.x : terms.x + ", " + terms.y;
  operandGrads[1] = make<MatmulOp>(builder, getLoc(), getW().getType(), first, second,
                                   builder.getStringAttr(rule + " -> " + terms.w));
}

// ---- matmul ---------------------------------------------------------------------------------------------------------
LogicalResult MatmulOp::verify() {
  ShapeCheck check(*this);
  check.floating({{"a", getA()}, {"b", getB()}}).widened({"y", getY()}, {"a", getA()});
  SmallVector<std::string> faults = contractionFaults(getRule());
  for (const std::string &fault : faults)
    check.fault() << fault;
  if (faults.empty())
    check.fits(getRule(), "a, b -> y");
  return check.result();
}

FactorRule MatmulOp::getFactorRule() {
  return FactorRule::parse(*this, getRule()).linear({Linearity::Multi, Linearity::Multi});
}

void MatmulOp::evaluate(ArrayRef<const HostTensor *> operands, MutableArrayRef<HostTensor> results) {
  multiply(getFactorRule(), *operands[0], *operands[1], results[0]);
}

int64_t MatmulOp::getFlops() { return productFlops(getFactorRule()); }

void MatmulOp::buildGradient(OpBuilder &builder, ValueRange resultGrads, const BitVector &needed,
                             MutableArrayRef<Value> operandGrads) {
  Value dy = resultGrads[0];
  if (!dy)
    return;
  auto [left, y] = getRule().split("->");
  auto [a, b] = left.split(',');
  a = a.trim(), b = b.trim(), y = y.trim();
  if (needed[0])
    operandGrads[0] = make<MatmulOp>(builder, getLoc(), getA().getType(), dy, getB(),
                                     builder.getStringAttr(y + ", " + b + " -> " + a));
  if (needed[1])
    operandGrads[1] = make<MatmulOp>(builder, getLoc(), getB().getType(), getA(), dy,
                                     builder.getStringAttr(a + ", " + y + " -> " + b));
}
