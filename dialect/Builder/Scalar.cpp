// Elementwise functions: a body of arith and math ops from a C++ expression.
#include "hocket/Scalar.h"
#include "dialect/Builder/State.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

namespace hocket {
namespace detail {
/// The body of one elementwise op while its function runs. Its ops have the place of the call.
struct ScalarBody {
  mlir::OpBuilder builder;
  mlir::Location loc;
  bool mixed = false; ///< scalars of another function were used
};
} // namespace detail
using namespace detail;

static mlir::Value valueOf(Scalar scalar) { return Access::scalarValue(scalar); }

/// A number of the type of `like`.
static Scalar number(Scalar like, double value) {
  ScalarBody &body = *Access::body(like);
  mlir::Type type = valueOf(like).getType();
  // Scalars that are no real numbers are faults of the ops around them; f32 keeps the constant itself sound.
  auto real = mlir::isa<mlir::FloatType>(type) ? type : body.builder.getF32Type();
  return Access::scalar<Scalar>(
      &body, mlir::arith::ConstantOp::create(body.builder, body.loc, body.builder.getFloatAttr(real, value)));
}

/// Whether all belong to the function that runs; ops are written in that of the first in any case, and thrown away.
static ScalarBody &bodyOf(Scalar a, Scalar b) {
  ScalarBody &body = *Access::body(a);
  if (Access::body(b) != &body)
    body.mixed = Access::body(b)->mixed = true;
  return body;
}

template <typename OpT> static Scalar unary(Scalar x) {
  ScalarBody &body = *Access::body(x);
  return Access::scalar<Scalar>(&body, OpT::create(body.builder, body.loc, valueOf(x)));
}
template <typename OpT> static Scalar binary(Scalar a, Scalar b) {
  ScalarBody &body = bodyOf(a, b);
  if (body.mixed)
    return a;
  return Access::scalar<Scalar>(&body, OpT::create(body.builder, body.loc, valueOf(a), valueOf(b)));
}

#define HOCKET_BINARY(NAME, OP)                                                                                        \
  Scalar NAME(Scalar a, Scalar b) { return binary<OP>(a, b); }                                                         \
  Scalar NAME(Scalar a, double b) { return binary<OP>(a, number(a, b)); }                                              \
  Scalar NAME(double a, Scalar b) { return binary<OP>(number(b, a), b); }
HOCKET_BINARY(operator+, mlir::arith::AddFOp)
HOCKET_BINARY(operator-, mlir::arith::SubFOp)
HOCKET_BINARY(operator*, mlir::arith::MulFOp)
HOCKET_BINARY(operator/, mlir::arith::DivFOp)
HOCKET_BINARY(max, mlir::arith::MaximumFOp)
HOCKET_BINARY(min, mlir::arith::MinimumFOp)
HOCKET_BINARY(pow, mlir::math::PowFOp)
#undef HOCKET_BINARY

Scalar operator-(Scalar x) { return unary<mlir::arith::NegFOp>(x); }
Scalar abs(Scalar x) { return unary<mlir::math::AbsFOp>(x); }
Scalar cos(Scalar x) { return unary<mlir::math::CosOp>(x); }
Scalar erf(Scalar x) { return unary<mlir::math::ErfOp>(x); }
Scalar exp(Scalar x) { return unary<mlir::math::ExpOp>(x); }
Scalar log(Scalar x) { return unary<mlir::math::LogOp>(x); }
Scalar rsqrt(Scalar x) { return unary<mlir::math::RsqrtOp>(x); }
Scalar sin(Scalar x) { return unary<mlir::math::SinOp>(x); }
Scalar sqrt(Scalar x) { return unary<mlir::math::SqrtOp>(x); }
Scalar tanh(Scalar x) { return unary<mlir::math::TanhOp>(x); }

// ---- choices --------------------------------------------------------------------------------------------------------
static Condition compare(mlir::arith::CmpFPredicate predicate, Scalar a, Scalar b) {
  ScalarBody &body = bodyOf(a, b);
  mlir::Value right = body.mixed ? valueOf(a) : valueOf(b);
  return Access::scalar<Condition>(&body,
                                   mlir::arith::CmpFOp::create(body.builder, body.loc, predicate, valueOf(a), right));
}
Condition operator<(Scalar a, Scalar b) { return compare(mlir::arith::CmpFPredicate::OLT, a, b); }
Condition operator<(Scalar a, double b) { return a < number(a, b); }
Condition operator>(Scalar a, Scalar b) { return compare(mlir::arith::CmpFPredicate::OGT, a, b); }
Condition operator>(Scalar a, double b) { return a > number(a, b); }

Scalar select(Condition condition, Scalar a, Scalar b) {
  ScalarBody &body = bodyOf(a, b);
  if (Access::body(condition) != &body)
    body.mixed = true;
  if (body.mixed)
    return a;
  return Access::scalar<Scalar>(
      &body,
      mlir::arith::SelectOp::create(body.builder, body.loc, Access::scalarValue(condition), valueOf(a), valueOf(b)));
}
Scalar select(Condition condition, Scalar a, double b) { return select(condition, a, number(a, b)); }
Scalar select(Condition condition, double a, Scalar b) { return select(condition, number(b, a), b); }

// ---- the op ---------------------------------------------------------------------------------------------------------
Tensor detail::elementwise(const Name &name, const std::vector<Tensor> &tensors, const ScalarFunction &function) {
  Use use(name.where, tensors);
  if (!use.sound())
    return use.unknown();
  mlir::RankedTensorType result = use.tensorType(tensors.front());
  llvm::SmallVector<mlir::Value> operands;
  for (const Tensor &tensor : tensors) {
    if (use.tensorType(tensor).getRank() > result.getRank())
      result = use.tensorType(tensor);
    operands.push_back(Access::value(tensor));
  }
  auto op = nn::make<nn::ElementwiseOp>(use.builder, use.loc, mlir::TypeRange(result), mlir::ValueRange(operands),
                                        use.builder.getStringAttr(name.text));
  mlir::Block &block = op.getBody().emplaceBlock();
  ScalarBody body{mlir::OpBuilder::atBlockEnd(&block), use.loc};
  std::vector<Scalar> scalars;
  for (const Tensor &tensor : tensors)
    scalars.push_back(Access::scalar<Scalar>(
        &body, block.addArgument(nn::scalarType(use.tensorType(tensor).getElementType()), use.loc)));
  Scalar returned = function(scalars);
  if (Access::body(returned) != &body || body.mixed) {
    use.fault() << "elementwise '" << name.text << "' uses scalars of another function";
    op.erase();
    return use.unknown();
  }
  nn::ReturnOp::create(body.builder, body.loc, valueOf(returned));
  return use.tensor(op.getYs().front());
}
} // namespace hocket
