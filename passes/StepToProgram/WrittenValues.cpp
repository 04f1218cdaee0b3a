// See WrittenValues.h.
#include "passes/StepToProgram/WrittenValues.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "passes/StepToProgram/RankPrograms.h"
#include "llvm/ADT/SetVector.h"
using namespace mlir;
using namespace hocket;
using namespace hocket::step;

namespace {
constexpr uint8_t negative = uint8_t(program::Infinities::Negative), positive = uint8_t(program::Infinities::Positive);

/// Infinite constants in the bodies of an op.
uint8_t constantsOf(Operation *op) {
  uint8_t found = 0;
  op->walk([&](arith::ConstantOp constant) {
    auto number = dyn_cast<FloatAttr>(constant.getValue());
    if (number && number.getValue().isInfinity())
      found |= number.getValue().isNegative() ? negative : positive;
  });
  return found;
}

/// Whether infinities of an op's operands, and of constants in it, reach its results.
bool passesOn(Operation *op) {
  return isa<nn::ScalarOpInterface, nn::StackOp, nn::UnstackOp, PackOp, UnpackOp, PlaceOp, PartOp, SliceOp>(op);
}
template <typename OpT> bool isLogSumExp(Value value) {
  auto op = value.getDefiningOp<OpT>();
  return op && value == op.getLse();
}
} // namespace

const std::vector<WrittenValues::Origin> &WrittenValues::originsOf(LaunchOp launch) {
  auto [it, fresh] = origins.try_emplace(launch.getKernel());
  auto kernel = fresh ? symbols.lookup<func::FuncOp>(launch.getKernel()) : func::FuncOp();
  if (!kernel || kernel.isExternal())
    return it->second;
  for (Value result : kernel.front().getTerminator()->getOperands()) {
    Origin &origin = it->second.emplace_back();
    llvm::SetVector<Value> from; // what flows into the result
    from.insert(result);
    for (size_t i = 0; i < from.size(); ++i) {
      if (auto argument = dyn_cast<BlockArgument>(from[i])) {
        origin.arguments.push_back(argument.getArgNumber());
      } else if (auto mask = from[i].getDefiningOp<MaskOp>()) {
        from.insert(mask.getX()); // what it sets is padding
      } else if (isLogSumExp<nn::AttentionOp>(from[i])) {
        origin.constants |= negative; // of a query that sees no key, as in a block of a ring
      } else if (isLogSumExp<nn::AttentionMergeOp>(from[i])) {
        auto merge = from[i].getDefiningOp<nn::AttentionMergeOp>();
        from.insert(merge.getALse());
        from.insert(merge.getBLse());
      } else if (Operation *op = from[i].getDefiningOp(); passesOn(op)) {
        origin.constants |= constantsOf(op);
        from.insert(op->operand_begin(), op->operand_end());
      }
    }
  }
  return it->second;
}

uint8_t WrittenValues::infinitiesOf(BufferOp buffer, Operation *work, unsigned result) {
  uint8_t found = 0;
  if (auto shard = buffer.getShardAttr(); shard && shard.getSharding().isPartial())
    found |= shard.getSharding().getReduction() == dist::Reduction::Max   ? negative
             : shard.getSharding().getReduction() == dist::Reduction::Min ? positive
                                                                          : 0;
  auto held = [&](Value value) { return infinities.lookup(value.getDefiningOp()); };
  if (auto launch = dyn_cast<LaunchOp>(work)) {
    const std::vector<Origin> &of = originsOf(launch);
    if (result >= of.size())
      return found;
    found |= of[result].constants;
    for (unsigned argument : of[result].arguments)
      if (argument < launch.getInputs().size()) // numbers come after the tensors
        found |= held(launch.getInputs()[argument]);
  } else if (auto collective = dyn_cast<CollectiveOp>(work)) {
    bool reduces =
        collective.getKind() == CollectiveKind::AllReduce || collective.getKind() == CollectiveKind::ReduceScatter;
    found |= reduces ? 0 : held(collective.getInput());
  } else if (auto transfer = dyn_cast<TransferOp>(work)) {
    found |= held(transfer.getInput());
  }
  return found;
}

uint32_t WrittenValues::shapeOf(BufferOp buffer) {
  auto memref = cast<MemRefType>(buffer.getBuffer().getType());
  auto shard = buffer.getShardAttr();
  auto [it, fresh] = index.try_emplace({memref, shard}, shapes.size());
  if (!fresh)
    return it->second;
  shapes.push_back(std::make_unique<program::LogicalShapeT>());
  program::LogicalShapeT &made = *shapes.back();
  ArrayRef<int64_t> whole = shard ? shard.getGlobal().getShape() : memref.getShape();
  made.shape.assign(whole.begin(), whole.end());
  if (shard)
    for (const dist::DimSharding &dim : shard.getSharding().getDims()) {
      made.split.push_back(std::make_unique<program::DimSplitT>());
      made.split.back()->axes = communicators.convert(dim.axes);
    }
  return it->second;
}

std::vector<program::Written> WrittenValues::of(Operation *work) {
  std::vector<program::Written> all;
  ValueRange outs;
  unsigned first = 0, between = 0; // the place of the first, and of operands between it and the second
  llvm::TypeSwitch<Operation *>(work)
      .Case([&](LaunchOp launch) { outs = launch.getOuts(), first = launch.getInputs().size(); })
      .Case([&](GemmOp gemm) { outs = gemm.getOuts(), first = 2, between = bool(gemm.getExtra()); })
      .Case([&](CollectiveOp collective) { outs = collective.getOuts(), first = 1; })
      .Case([&](TransferOp transfer) { outs = transfer.getOuts(), first = 1; });
  SmallVector<uint8_t> held; // of all results, before any of them replaces what an operand held
  for (auto [i, out] : llvm::enumerate(outs))
    held.push_back(infinitiesOf(out.getDefiningOp<BufferOp>(), work, i));
  for (auto [i, out] : llvm::enumerate(outs)) {
    auto buffer = out.getDefiningOp<BufferOp>();
    infinities[buffer] = held[i];
    Type type = cast<MemRefType>(out.getType()).getElementType();
    if (isa<FloatType>(type))
      all.emplace_back(first + i + (i ? between : 0), shapeOf(buffer), strings.add(buffer.getName()), convertType(type),
                       static_cast<program::Infinities>(held[i]));
  }
  return all;
}
