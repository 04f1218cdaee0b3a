// Makes nn.elementwise ops.
#include "passes/NN/ScalarFunction.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
using namespace mlir;

namespace hocket::nn {

Value Scalars::constant(double value, Type type) const {
  return arith::ConstantOp::create(builder, loc, builder.getFloatAttr(type, value));
}
Value Scalars::add(Value a, Value b) const { return arith::AddFOp::create(builder, loc, a, b); }
Value Scalars::sub(Value a, Value b) const { return arith::SubFOp::create(builder, loc, a, b); }
Value Scalars::div(Value a, Value b) const { return arith::DivFOp::create(builder, loc, a, b); }
Value Scalars::min(Value a, Value b) const { return arith::MinimumFOp::create(builder, loc, a, b); }
Value Scalars::sqrt(Value a) const { return math::SqrtOp::create(builder, loc, a); }
Value Scalars::log(Value a) const { return math::LogOp::create(builder, loc, a); }
Value Scalars::select(Value condition, Value a, Value b) const {
  return arith::SelectOp::create(builder, loc, condition, a, b);
}
Value Scalars::max(Value a, Value b) const { return arith::MaximumFOp::create(builder, loc, a, b); }
Value Scalars::equal(Value a, Value b) const {
  return arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OEQ, a, b);
}
Value Scalars::toFloat(Value integer, Type type) const { return arith::SIToFPOp::create(builder, loc, type, integer); }

Value Scalars::integer(int64_t value) const {
  return arith::ConstantOp::create(builder, loc, builder.getI64IntegerAttr(value));
}
Value Scalars::mul(Value a, Value b) const { return arith::MulFOp::create(builder, loc, a, b); }
Value Scalars::notEqual(Value a, Value b) const {
  return arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::UNE, a, b);
}
Value Scalars::atMost(Value a, Value b) const {
  return arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OLE, a, b);
}
Value Scalars::notBelow(Value a, Value b) const {
  return arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::UGE, a, b);
}

SmallVector<Value> makeElementwise(OpBuilder &builder, Location loc, StringRef name, TypeRange types,
                                   ValueRange operands,
                                   llvm::function_ref<SmallVector<Value>(const Scalars &, ValueRange)> body) {
  auto op = make<ElementwiseOp>(builder, loc, types, operands, builder.getStringAttr(name));
  OpBuilder::InsertionGuard guard(builder);
  Block *block = builder.createBlock(&op.getBody());
  for (Value operand : operands)
    block->addArgument(scalarType(cast<RankedTensorType>(operand.getType()).getElementType()), loc);
  SmallVector<Value> results = body(Scalars{builder, loc}, block->getArguments());
  ReturnOp::create(builder, loc, results);
  return SmallVector<Value>(op.getResults());
}

Value makeElementwise(OpBuilder &builder, Location loc, StringRef name, RankedTensorType type, ValueRange operands,
                      llvm::function_ref<Value(const Scalars &, ValueRange)> body) {
  auto one = [&](const Scalars &s, ValueRange in) { return SmallVector<Value>{body(s, in)}; };
  return makeElementwise(builder, loc, name, TypeRange{type}, operands, one).front();
}
} // namespace hocket::nn
