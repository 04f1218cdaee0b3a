// Ops that do the same to every element: their scalar body, cloned with vectors for scalars.
#include "passes/Codegen/Graph/Graph.h"
using namespace mlir;
using namespace hocket::nn;

namespace hocket::codegen {
namespace {
/// a b + c and a b - c of one body become one rounding, where the product has no other use. What the source of the sum
/// is decides, not what stands around the op.
void contract(Block &body) {
  for (Operation &op : llvm::make_early_inc_range(body)) {
    if (!isa<arith::AddFOp, arith::SubFOp>(op))
      continue;
    bool subtract = isa<arith::SubFOp>(op);
    auto product = [&](unsigned i) {
      auto mul = op.getOperand(i).getDefiningOp<arith::MulFOp>();
      return mul && mul->hasOneUse() ? mul : arith::MulFOp();
    };
    OpBuilder builder(&op);
    auto negated = [&](Value value) -> Value { return arith::NegFOp::create(builder, op.getLoc(), value); };
    Value fused;
    if (auto mul = product(0))
      fused = math::FmaOp::create(builder, op.getLoc(), mul.getLhs(), mul.getRhs(),
                                  subtract ? negated(op.getOperand(1)) : op.getOperand(1));
    else if (auto mul = product(1))
      fused = math::FmaOp::create(builder, op.getLoc(), subtract ? negated(mul.getLhs()) : mul.getLhs(), mul.getRhs(),
                                  op.getOperand(0));
    if (!fused)
      continue;
    op.getResult(0).replaceAllUsesWith(fused);
    op.erase();
  }
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(body)))
    if (isa<arith::MulFOp>(op) && op.use_empty())
      op.erase();
}

bool isVector(Value value) { return isa<VectorType>(value.getType()); }

/// Clones the ops of a scalar body at the builder's place; what depends on a vector becomes a vector.
void cloneWide(Emit &e, Block &body, IRMapping &mapping) {
  for (Operation &op : body) {
    bool wide = llvm::any_of(op.getOperands(), [&](Value v) { return isVector(mapping.lookupOrDefault(v)); });
    Operation *clone = e.clone(op, mapping);
    if (!wide)
      continue;
    OpBuilder::InsertionGuard guard(e);
    e.setInsertionPoint(clone);
    for (OpOperand &operand : clone->getOpOperands())
      operand.set(e.repeat(operand.get()));
    for (Value result : clone->getResults())
      result.setType(e.vectorOf(result.getType()));
  }
}
} // namespace

LogicalResult buildElementRule(Graph &graph, Operation *op) {
  auto scalar = dyn_cast<ScalarOpInterface>(op);
  if (!scalar)
    return failure();
  SmallVector<Ref> operands;
  for (unsigned i = 0; i < op->getNumOperands(); ++i)
    operands.push_back(graph.read(op, i));
  Space space = graph.getShape().spaces.lookup(op->getResult(0));
  auto compute = [scalar](Emit &e, const Place &, ValueRange values) mutable {
    Region scratch;
    Block &body = scratch.emplaceBlock();
    for (Value operand : scalar->getOperands())
      body.addArgument(scalarType(cast<RankedTensorType>(operand.getType()).getElementType()), e.getLoc());
    OpBuilder builder(e.getContext());
    builder.setInsertionPointToEnd(&body);
    SmallVector<Value> results = scalar.buildScalarBody(builder, body.getArguments());
    // Keeps the results named while products are folded into sums.
    OperationState keep(e.getLoc(), "builtin.unrealized_conversion_cast");
    keep.addOperands(results);
    keep.addTypes(e.getNoneType());
    Operation *end = builder.create(keep);
    if (e.hasFma())
      contract(body);
    results.assign(end->operand_begin(), end->operand_end());
    end->erase();
    IRMapping mapping;
    mapping.map(body.getArguments(), values);
    cloneWide(e, body, mapping);
    SmallVector<Value> made;
    for (Value result : results)
      made.push_back(mapping.lookup(result));
    return made;
  };
  Ref first = graph.map(space, operands, Compute(compute));
  for (OpResult result : op->getResults())
    graph.define(result, {first.step, result.getResultNumber()});
  return success();
}
} // namespace hocket::codegen
