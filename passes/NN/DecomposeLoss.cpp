// Takes cross_entropy apart (pass nn-decompose-loss).
#include "dialect/NN/NN.h"
#include "passes/NN/Passes.h"
#include "passes/NN/ScalarFunction.h"
using namespace mlir;

namespace hocket::nn {
#define GEN_PASS_DEF_DECOMPOSELOSSPASS
#include "passes/NN/Passes.h.inc"

namespace {
void decompose(CrossEntropyOp op) {
  OpBuilder builder(op);
  Location loc = op.getLoc();
  Value logits = op.getLogits(), labels = op.getLabels();
  auto logitsType = cast<RankedTensorType>(logits.getType());
  auto rowType = RankedTensorType::get(logitsType.getShape().drop_back(), builder.getF32Type());
  Operation *before = op->getPrevNode();
  Value max = make<RowMaxOp>(builder, loc, rowType, logits);
  Value sumExp = make<RowSumExpOp>(builder, loc, rowType, logits, max);
  Value lse = makeElementwise(builder, loc, "log_sum_exp", rowType, {max, sumExp},
                              [](const Scalars &s, ValueRange in) { return s.add(in[0], s.log(in[1])); });
  Value picked = make<PickOp>(builder, loc, rowType, logits, labels, /*offset=*/Value());
  Value losses =
      makeElementwise(builder, loc, "token_loss", rowType, {lse, picked, labels}, [](const Scalars &s, ValueRange in) {
        Type type = in[0].getType();
        Value masked = s.equal(s.toFloat(in[2], type), s.constant(-1, type));
        return s.select(masked, s.constant(0, type), s.sub(in[0], in[1]));
      });
  Value sum = make<SumOp>(builder, loc, op.getSum().getType(), losses);
  op.getSum().replaceAllUsesWith(sum);
  if (!op.getCount().use_empty())
    op.getCount().replaceAllUsesWith(make<CountTokensOp>(builder, loc, op.getCount().getType(), labels));
  if (Value kept = op.getLse())
    kept.replaceAllUsesWith(lse);
  for (Operation *made = before ? before->getNextNode() : &op->getBlock()->front(); made != op;
       made = made->getNextNode()) {
    setPath(made, getPath(op));
    if (op.getPhase())
      setPhase(made, getPhase(op));
  }
  op.erase();
}

struct DecomposeLossPass : impl::DecomposeLossPassBase<DecomposeLossPass> {
  void runOnOperation() override {
    for (auto step : getOperation().getOps<TrainingStepOp>())
      step.walk([](CrossEntropyOp op) { decompose(op); });
  }
};
} // namespace
} // namespace hocket::nn
