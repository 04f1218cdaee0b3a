// Several reductions of single numbers become one message.
#include "mlir/Analysis/TopologicalSortUtils.h"
#include "passes/Dist/Partitioner.h"
using namespace mlir;

namespace hocket::dist {
namespace {
using Key = std::tuple<Attribute, Reduction, Attribute>;

bool isScalarReduction(AllReduceOp op) {
  return llvm::all_of(op.getXs(), [](Value x) { return cast<RankedTensorType>(x.getType()).getRank() == 0; });
}

void join(ArrayRef<AllReduceOp> ops) {
  SmallVector<Value> xs;
  SmallVector<Type> types;
  SmallVector<Attribute> shardings;
  std::string cause;
  AllReduceOp last = ops.back();
  for (AllReduceOp op : ops) {
    llvm::append_range(xs, op.getXs());
    llvm::append_range(types, op->getResultTypes());
    for (OpResult result : op->getResults())
      shardings.push_back(nn::getSharding(result));
    if (StringRef(cause).find(op.getCause()) == StringRef::npos)
      cause += (cause.empty() ? "" : "; ") + op.getCause().str();
  }
  OpBuilder builder(last);
  auto joined = nn::make<AllReduceOp>(builder, last.getLoc(), types, xs, last.getReductionAttr(), last.getAxesAttr(),
                                      DenseI64ArrayAttr(), builder.getStringAttr(cause));
  nn::setShardings(joined, shardings);
  size_t next = 0;
  for (AllReduceOp op : ops) {
    for (Value result : op.getResults())
      result.replaceAllUsesWith(joined.getResult(next++));
    op.erase();
  }
}
} // namespace

void joinScalarReductions(Region &region) {
  llvm::MapVector<Key, SmallVector<AllReduceOp>> groups;
  for (auto op : region.front().getOps<AllReduceOp>())
    if (isScalarReduction(op))
      groups[{op.getAxesAttr(), op.getReduction(),
              cast<RankedTensorType>(op.getXs().front().getType()).getElementType()
                  ? TypeAttr::get(cast<RankedTensorType>(op.getXs().front().getType()).getElementType())
                  : TypeAttr()}]
          .push_back(op);
  for (auto &[key, ops] : groups)
    if (ops.size() > 1)
      join(ops);
  // Users of the first numbers may stand before the last one: they move behind.
  sortTopologically(&region.front());
}
} // namespace hocket::dist
