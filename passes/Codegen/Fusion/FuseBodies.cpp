// The pass codegen-fuse; see Passes.td.
#include "passes/Codegen/Fusion/Epilogues.h"
#include "passes/Codegen/Fusion/Groups.h"
#include "passes/Codegen/Fusion/Outline.h"
#include "passes/Codegen/Fusion/Products.h"
using namespace mlir;
using namespace hocket::nn;

namespace hocket::codegen {
#define GEN_PASS_DEF_CODEGENFUSEPASS
#include "passes/Codegen/Fusion/Passes.h.inc"

namespace {
/// Elements from which the square sum of a tensor is worth sharing between threads, and columns that it is summed over.
constexpr int64_t largeSquareSum = 1 << 16, leastColumns = 256;

/// Loads and rank-dependent numbers move to the top (a load: below the last store to its buffer before it), so that
/// kernels may move freely below them.
void raiseLoads(Block &block) {
  llvm::DenseMap<Value, Operation *> lastStore;
  Operation *top = nullptr;
  auto after = [&](Operation *op, Operation *place) {
    if (place)
      op->moveAfter(place);
    else if (op != &block.front())
      op->moveBefore(&block.front());
  };
  for (Operation &op : llvm::make_early_inc_range(block)) {
    if (auto store = dyn_cast<step::StoreOp>(op)) {
      lastStore[store.getBuffer()] = store;
    } else if (auto load = dyn_cast<step::LoadOp>(op)) {
      if (Operation *store = lastStore.lookup(load.getBuffer())) {
        load->moveAfter(store);
        continue;
      }
      after(load, top);
      top = load;
    } else if (isa<step::RankScalarOp>(op)) {
      after(&op, top);
      top = &op;
    }
  }
}

/// The path and phase of `from`, for ops that take its place.
void placeLike(Operation *from, ArrayRef<Operation *> made) {
  for (Operation *op : made)
    for (StringRef placement : {"path", "phase"})
      if (Attribute value = from->getAttr(placement))
        op->setAttr(placement, value);
}

/// square_sum(x) of [R, C] becomes sum(sum over R of x x), a kernel over columns and a small one. Squares are of the
/// result's type: those of 16-bit numbers are not rounded to 16 bits.
void splitSquareSums(Block &block) {
  for (auto op : llvm::make_early_inc_range(block.getOps<SquareSumOp>())) {
    RankedTensorType type = op.getX().getType();
    int64_t columns = 1, kept = type.getRank();
    while (kept > 0 && columns < leastColumns)
      columns *= type.getShape()[--kept];
    if (type.getNumElements() < largeSquareSum || kept == 0)
      continue;
    OpBuilder builder(op);
    Location loc = op.getLoc();
    Value x = op.getX();
    if (Type wide = op.getY().getType().getElementType(); wide != type.getElementType()) {
      type = type.clone(wide);
      x = make<CastOp>(builder, loc, type, x, /*summands=*/false);
      placeLike(op, x.getDefiningOp());
    }
    auto columnType = RankedTensorType::get(type.getShape().drop_front(kept), type.getElementType());
    Operation *square = make<MulOp>(builder, loc, type, x, x);
    Operation *columnSum = make<SumOp>(builder, loc, columnType, square->getResult(0));
    Operation *sum = make<SumOp>(builder, loc, op.getY().getType(), columnSum->getResult(0));
    placeLike(op, {square, columnSum, sum});
    op.getY().replaceAllUsesWith(sum->getResult(0));
    op.erase();
  }
}

/// Gradients of keys and values are sums over blocks of queries. Where they are of 16 bits the sums get a tensor of
/// f32, which is rounded afterwards: the same numbers, and a kernel that adds in memory.
void widenAttentionSums(Block &block) {
  for (auto op : llvm::make_early_inc_range(block.getOps<AttentionGradOp>()))
    for (Value sum : {op.getDk(), op.getDv()}) {
      auto type = cast<RankedTensorType>(sum.getType());
      if (type.getElementType() == scalarType(type.getElementType()))
        continue;
      sum.setType(type.clone(scalarType(type.getElementType())));
      OpBuilder builder(op->getContext());
      builder.setInsertionPointAfter(op);
      auto rounded = make<CastOp>(builder, op.getLoc(), type, sum, /*summands=*/false);
      placeLike(op, rounded.getOperation());
      sum.replaceAllUsesExcept(rounded.getY(), rounded);
    }
}

/// What nothing uses is not computed.
void eraseDead(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
    if (op.use_empty() && roleOf(&op) != Role::Other)
      op.erase();
}

LogicalResult checkKernels(Block &block) {
  bool sound = true;
  for (Operation &op : block) {
    bool computes = isa<NNDialect>(op.getDialect()) && roleOf(&op) == Role::Other;
    if (!computes)
      continue;
    op.emitOpError("has no kernel");
    sound = false;
  }
  return success(sound);
}

void fuseBody(step::BodyOp body, KernelLibrary &kernels) {
  Block &block = body.getBody().front();
  std::vector<Group> order = groupOps(block);
  OpBuilder builder = OpBuilder::atBlockEnd(&block);
  for (const Group &group : order) {
    if (group.kernel)
      kernels.launch(builder, group.ops);
    else
      group.ops.front()->moveBefore(&block, block.end());
    builder.setInsertionPointToEnd(&block);
  }
  for (const Group &group : llvm::reverse(order))
    if (group.kernel)
      for (Operation *op : llvm::reverse(group.ops)) {
        op->dropAllUses();
        op->erase();
      }
}

struct CodegenFuse : impl::CodegenFusePassBase<CodegenFuse> {
  using CodegenFusePassBase::CodegenFusePassBase;
  void runOnOperation() override {
    KernelLibrary kernels(getOperation());
    SmallVector<step::BodyOp> bodies;
    getOperation().walk([&](step::BodyOp body) { bodies.push_back(body); });
    for (step::BodyOp body : bodies) {
      Block &block = body.getBody().front();
      eraseDead(block);
      if (failed(checkKernels(block)) || failed(lowerProducts(body))) {
        signalPassFailure();
        continue;
      }
      splitSquareSums(block);
      widenAttentionSums(block);
      raiseLoads(block);
      if (epilogues)
        fuseEpilogues(block);
      fuseBody(body, kernels);
    }
  }
};
} // namespace
} // namespace hocket::codegen
