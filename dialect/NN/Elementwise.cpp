// A user's own scalar function over tensors.
#include "dialect/NN/ScalarBody.h"
#include "dialect/NN/ScalarGradient.h"
#include "dialect/NN/ShapeCheck.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/StringExtras.h"
using namespace mlir;
using namespace hocket::nn;

static std::string elementwiseRule(ElementwiseOp op) {
  int64_t rank = tensorType(op.getYs().front()).getRank();
  auto term = [&](Value value) -> std::string {
    int64_t own = tensorType(value).getRank();
    return own == 0 ? "_" : factorNames("d", own, rank - own);
  };
  return llvm::join(llvm::map_range(op.getXs(), term), ", ") + " -> " +
         llvm::join(llvm::map_range(op.getYs(), term), ", ");
}

/// ", bf16, in which no body computes" where the element type is not what the body sees.
static std::string narrowNote(Type element) {
  std::string text;
  if (element != scalarType(element))
    llvm::raw_string_ostream(text) << ", " << element << ", in which no body computes";
  return text;
}

/// The body's arguments and returned values are scalars of the operands' and results' element types.
static void checkBody(ShapeCheck &check, ElementwiseOp op) {
  Block &body = op.getBody().front();
  if (body.getNumArguments() != op.getXs().size())
    check.fault() << "number of the body's arguments is " << body.getNumArguments() << ", expected "
                  << op.getXs().size() << " (one an operand)";
  for (auto [index, pair] : llvm::enumerate(llvm::zip(body.getArguments(), op.getXs())))
    if (Type found = std::get<0>(pair).getType(), element = tensorType(std::get<1>(pair)).getElementType();
        found != scalarType(element))
      check.fault() << "argument " << index << " of the body is " << found << ", expected " << scalarType(element)
                    << " (the element type of operand " << index << narrowNote(element) << ")";
  for (Operation &each : body)
    if (!isa<ReturnOp>(each) && !isScalarOp(each))
      check.fault() << "body has '" << each.getName() << "', expected only scalars by " << scalarOpList();
  auto last = body.empty() ? ReturnOp() : dyn_cast<ReturnOp>(body.back());
  if (!last) {
    check.fault() << "body does not end with 'return'";
    return;
  }
  if (last.getValues().size() != op.getYs().size())
    check.fault() << "number of values that the body returns is " << last.getValues().size() << ", expected "
                  << op.getYs().size() << " (one a result)";
  for (auto [index, pair] : llvm::enumerate(llvm::zip(last.getValues(), op.getYs())))
    if (Type found = std::get<0>(pair).getType(), element = tensorType(std::get<1>(pair)).getElementType();
        found != scalarType(element))
      check.fault() << "body returns " << found << " as value " << index << ", expected " << scalarType(element)
                    << " (the element type of result " << index << narrowNote(element) << ")";
}

LogicalResult ElementwiseOp::verify() {
  ShapeCheck check(*this);
  if (getYs().empty())
    return check.fault() << "has no result, expected at least one";
  int64_t rank = tensorType(getYs().front()).getRank();
  bool ranksFit = true;
  for (auto [index, x] : llvm::enumerate(getXs()))
    ranksFit &= check.rank({"operand " + std::to_string(index), x}, 0, rank, "the rank of result 0");
  for (auto [index, y] : llvm::enumerate(getYs()))
    ranksFit &= check.rank({"result " + std::to_string(index), y}, rank, rank, "the rank of result 0");
  if (ranksFit)
    check.fits(elementwiseRule(*this), "->");
  checkBody(check, *this);
  return check.result();
}

FactorRule ElementwiseOp::getFactorRule() { return FactorRule::parse(*this, elementwiseRule(*this)); }

void ElementwiseOp::evaluate(ArrayRef<const HostTensor *> operands, MutableArrayRef<HostTensor> results) {
  ScalarProgram program(getBody().front());
  runElementwise(program, operands, results);
}

int64_t ElementwiseOp::getFlops() {
  int64_t ops =
      llvm::count_if(getBody().front().without_terminator(), [](Operation &op) { return !isa<arith::ConstantOp>(op); });
  return ops * tensorType(getYs().front()).getNumElements();
}

SmallVector<Value> ElementwiseOp::buildScalarBody(OpBuilder &builder, ValueRange args) {
  Block &body = getBody().front();
  IRMapping mapping;
  mapping.map(body.getArguments(), args);
  for (Operation &op : body.without_terminator())
    builder.clone(op, mapping);
  SmallVector<Value> values;
  for (Value value : cast<ReturnOp>(body.getTerminator()).getValues())
    values.push_back(mapping.lookup(value));
  return values;
}

void ElementwiseOp::buildGradient(OpBuilder &builder, ValueRange resultGrads, const BitVector &needed,
                                  MutableArrayRef<Value> operandGrads) {
  buildScalarGradient(*this, getName().value_or("elementwise"), builder, resultGrads, needed, operandGrads);
}
