// See Groups.h. Ops are looked at in order; each joins a kernel before it or begins a new one. Joining moves the op up
// to the kernel, or the kernel down to the op, whichever keeps the order.
#include "passes/Codegen/Fusion/Groups.h"
#include "llvm/ADT/SetVector.h"
using namespace mlir;
using namespace hocket::nn;

namespace hocket::codegen {
namespace {
/// Bounds on one kernel: beyond them a larger one saves nothing and takes longer to compile.
constexpr size_t mostOps = 16, mostOperands = 32;

class Grouping {
public:
  std::vector<Group> run(Block &block) {
    for (Operation &op : block)
      add(&op);
    std::vector<Group> found;
    for (Group &group : order)
      if (!group.ops.empty())
        found.push_back(std::move(group));
    return found;
  }

private:
  void add(Operation *op) {
    Role role = roleOf(op);
    bool kernel = role != Role::Other && role != Role::Product;
    if (kernel) {
      for (size_t place : candidates(op))
        if (join(op, place))
          return;
    }
    placeOf[op] = order.size();
    order.push_back({{op}, kernel});
  }

  /// Kernels that `op` might join: those that make its operands, the latest first; then, for an op over rows, those
  /// that read the same large tensor.
  SmallVector<size_t> candidates(Operation *op) {
    llvm::SetVector<size_t> makers, readers;
    for (Value operand : op->getOperands()) {
      if (Operation *maker = operand.getDefiningOp(); maker && placeOf.contains(maker) && order[placeOf[maker]].kernel)
        makers.insert(placeOf[maker]);
      if (roleOf(op) == Role::Rows && isa<RankedTensorType>(operand.getType()) && elementsOf(operand) > 1)
        for (Operation *user : operand.getUsers())
          if (user != op && roleOf(user) == Role::Rows && placeOf.contains(user))
            readers.insert(placeOf[user]);
    }
    SmallVector<size_t> all(makers.getArrayRef());
    llvm::sort(all, std::greater<>());
    for (size_t reader : readers)
      if (!makers.contains(reader))
        all.push_back(reader);
    return all;
  }

  bool join(Operation *op, size_t place) {
    Group &group = order[place];
    SmallVector<Operation *> ops = group.ops;
    ops.push_back(op);
    if (ops.size() > mostOps || operandsOf(ops) > mostOperands || llvm::any_of(ops, collectsScalars) || !isKernel(ops))
      return false;
    if (canMoveUp(op, place)) {
      group.ops = ops;
      placeOf[op] = place;
      return true;
    }
    if (!canMoveDown(place))
      return false;
    order[place].ops.clear();
    order.push_back({ops, true});
    for (Operation *each : ops)
      placeOf[each] = order.size() - 1;
    return true;
  }
  static bool isKernel(ArrayRef<Operation *> ops) {
    if (ops.size() == 2) // an accumulator of an embedding's gradient
      if (auto grad = dyn_cast<EmbeddingGradOp>(ops[0])) {
        auto add = dyn_cast<AddOp>(ops[1]);
        return add && grad.getDtable().hasOneUse() && add.getA().getType() == add.getB().getType() &&
               add.getA() != add.getB();
      }
    return kernelShape(ops).has_value();
  }
  /// A stack of scalars (the square sums of all parameters) and what takes it apart stay alone, and scalars do not
  /// count as operands: so kernels do not depend on how many layers there are.
  static bool collectsScalars(Operation *op) {
    if (auto stack = dyn_cast<StackOp>(op))
      return elementsOf(stack.getXs().front()) == 1;
    auto unstack = dyn_cast<UnstackOp>(op);
    return unstack && elementsOf(unstack.getYs().front()) == 1;
  }
  static size_t operandsOf(ArrayRef<Operation *> ops) {
    llvm::SmallSetVector<Value, 16> values;
    auto insert = [&](ValueRange more) {
      for (Value value : more)
        if (isa<RankedTensorType>(value.getType()) && elementsOf(value) > 1)
          values.insert(value);
    };
    for (Operation *op : ops) {
      insert(op->getOperands());
      insert(op->getResults());
    }
    return values.size();
  }

  /// True if every operand of `op` is known where the kernel stands.
  bool canMoveUp(Operation *op, size_t place) {
    return llvm::all_of(op->getOperands(), [&](Value operand) {
      Operation *maker = operand.getDefiningOp();
      return !maker || !placeOf.contains(maker) || placeOf[maker] <= place;
    });
  }
  /// True if nothing behind the kernel needs it, and nothing it loads is stored to behind it.
  bool canMoveDown(size_t place) {
    llvm::SmallPtrSet<Value, 8> buffers;
    for (Operation *op : order[place].ops) {
      for (Operation *user : op->getUsers())
        if (placeOf.contains(user) && placeOf[user] != place)
          return false;
      for (Value operand : op->getOperands())
        if (auto load = operand.getDefiningOp<step::LoadOp>())
          buffers.insert(load.getBuffer());
    }
    for (size_t later = place + 1; later < order.size(); ++later)
      for (Operation *op : order[later].ops)
        if (auto store = dyn_cast<step::StoreOp>(op); store && buffers.contains(store.getBuffer()))
          return false;
    return true;
  }

  std::vector<Group> order;
  llvm::DenseMap<Operation *, size_t> placeOf;
};
} // namespace

std::vector<Group> groupOps(Block &block) { return Grouping().run(block); }
} // namespace hocket::codegen
