// Groups ops of a layer by the names of the parameters around them.
#include "passes/NN/LayerPaths.h"
using namespace mlir;

namespace hocket::nn {

std::string joinPath(StringRef prefix, StringRef name) {
  if (prefix.empty() || name.empty())
    return (prefix + name).str();
  return (prefix + "." + name).str();
}

StringRef parameterGroup(StringRef name) {
  size_t dot = name.rfind('.');
  return dot == StringRef::npos ? name : name.take_front(dot);
}

StringRef commonPath(StringRef a, StringRef b) {
  size_t end = 0;
  for (size_t i = 0; i <= a.size() && i <= b.size(); ++i) {
    bool aEnds = i == a.size() || a[i] == '.', bEnds = i == b.size() || b[i] == '.';
    if (aEnds && bEnds)
      end = i;
    if (i == a.size() || i == b.size() || a[i] != b[i])
      break;
  }
  return a.take_front(end);
}

namespace {
/// What the neighbours seen so far have in common; nothing is known before the first.
struct Common {
  std::optional<std::string> path;
  void meet(StringRef other) { path = path ? commonPath(*path, other).str() : other.str(); }
  void meet(const Common &other) {
    if (other.path)
      meet(*other.path);
  }
};

/// Whether a value carries activations: positions and token ids lead to no neighbour.
bool isActivation(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && isa<FloatType>(type.getElementType());
}

/// The group that an op has by itself, from its parameters or from being a call.
Common ownGroup(Operation *op, bool isModel) {
  Common group;
  if (auto call = dyn_cast<CallOp>(op))
    group.meet(call.getName());
  else if (auto repeat = dyn_cast<RepeatOp>(op))
    group.meet(repeat.getName());
  else
    for (Value operand : op->getOperands())
      if (auto param = operand.getDefiningOp<ParamOp>()) {
        StringRef name = param.getName();
        group.meet(name.contains('.') || isModel ? parameterGroup(name) : "");
      }
  return group;
}
} // namespace

DenseMap<Operation *, std::string> groupOps(Block &body, bool isModel) {
  DenseMap<Operation *, Common> own, behind, before;
  for (Operation &op : body)
    own[&op] = ownGroup(&op, isModel);
  // Nearest neighbours with a group of their own, looking towards the arguments, then towards the results.
  for (Operation &op : body)
    for (Value operand : op.getOperands()) {
      Operation *producer = operand.getDefiningOp();
      if (isa_and_present<ParamOp>(producer) || !isActivation(operand))
        continue;
      if (!producer)
        before[&op].meet("");
      else
        before[&op].meet(own[producer].path ? own[producer] : before[producer]);
    }
  for (Operation &op : llvm::reverse(body))
    for (Value result : op.getResults())
      for (Operation *user : result.getUsers())
        if (isActivation(result))
          isa<ReturnOp>(user) ? behind[&op].meet("") : behind[&op].meet(own[user].path ? own[user] : behind[user]);
  DenseMap<Operation *, std::string> groups;
  for (Operation &op : body) {
    Common group = own[&op];
    if (!group.path) {
      group.meet(before[&op]);
      group.meet(behind[&op]);
    }
    groups[&op] = group.path.value_or("");
  }
  return groups;
}

static void nameTiedUses(ParamOp param) {
  SmallVector<Operation *> users(param->getUsers());
  if (users.size() < 2)
    return;
  llvm::sort(users, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  StringRef group = parameterGroup(param.getName());
  for (auto [index, user] : llvm::enumerate(users))
    if (getPath(user) == group)
      setPath(user, (group + "#" + Twine(index)).str());
}

void finishPaths(ModelOp model) {
  for (auto param : model.getBody().getOps<ParamOp>())
    nameTiedUses(param);
  for (Operation &op : model.getBody().front()) {
    if (isa<ParamOp, ReturnOp>(op) || !getPath(&op).empty())
      continue;
    Operation *last = nullptr;
    for (Value operand : op.getOperands())
      if (Operation *producer = operand.getDefiningOp(); producer && !getPath(producer).empty())
        if (!last || last->isBeforeInBlock(producer))
          last = producer;
    if (last)
      setPath(&op, getPath(last));
  }
}
} // namespace hocket::nn
