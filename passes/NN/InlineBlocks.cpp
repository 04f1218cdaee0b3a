// Puts the blocks that models call in place (pass nn-inline-blocks).
#include "dialect/NN/NN.h"
#include "mlir/IR/IRMapping.h"
#include "passes/NN/LayerPaths.h"
#include "passes/NN/Passes.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/FormatVariadic.h"
using namespace mlir;

namespace hocket::nn {
#define GEN_PASS_DEF_INLINEBLOCKSPASS
#include "passes/NN/Passes.h.inc"

namespace {
class BlockInliner {
public:
  explicit BlockInliner(ModelOp model) : model(model), builder(model.getContext()) {}
  LogicalResult run();

private:
  /// One piece of model being emitted: its body, the prefix of its names, and the calls that lead to it.
  struct Frame {
    BlockOp callee;
    std::string prefix;
    Location caller;
    const Frame *outer;
  };
  LogicalResult expand(Operation &op, const Frame *frame, IRMapping &map);
  FailureOr<SmallVector<Value>> inlineCall(Operation *call, FlatSymbolRefAttr callee, ValueRange args, StringRef name,
                                           const Frame *frame);
  LogicalResult checkNames();
  Location locate(Operation &op, const Frame *frame, StringRef path);
  const std::string &groupOf(Operation &op, bool isModel);

  ModelOp model;
  OpBuilder builder;
  SymbolTable symbols{model->getParentOfType<ModuleOp>()};
  DenseMap<Block *, DenseMap<Operation *, std::string>> groups;
};

const std::string &BlockInliner::groupOf(Operation &op, bool isModel) {
  auto [it, isNew] = groups.try_emplace(op.getBlock());
  if (isNew)
    it->second = groupOps(*op.getBlock(), isModel);
  return it->second[&op];
}

Location BlockInliner::locate(Operation &op, const Frame *frame, StringRef path) {
  Location loc = op.getLoc();
  for (const Frame *f = frame; f; f = f->outer)
    loc = CallSiteLoc::get(loc, f->caller);
  return path.empty() ? loc : Location(NameLoc::get(builder.getStringAttr(path), loc));
}

/// Emits the callee's ops at the builder's place and returns what it returns.
FailureOr<SmallVector<Value>> BlockInliner::inlineCall(Operation *call, FlatSymbolRefAttr symbol, ValueRange args,
                                                       StringRef name, const Frame *outer) {
  auto callee = symbols.lookup<BlockOp>(symbol.getAttr());
  if (!callee)
    return call->emitError() << "no block is named @" << symbol.getValue();
  for (const Frame *f = outer; f; f = f->outer)
    if (f->callee == callee)
      return call->emitError() << "block @" << callee.getSymName() << " contains itself";
  Block &body = callee.getBody().front();
  if (body.getNumArguments() != args.size())
    return call->emitError() << "block @" << callee.getSymName() << " has " << body.getNumArguments()
                             << " arguments, given " << args.size();
  Frame frame{callee, joinPath(outer ? outer->prefix : "", name), call->getLoc(), outer};
  IRMapping map;
  map.map(body.getArguments(), args);
  for (Operation &op : body.without_terminator())
    if (failed(expand(op, &frame, map)))
      return failure();
  SmallVector<Value> results;
  for (Value value : body.getTerminator()->getOperands())
    results.push_back(map.lookup(value));
  return results;
}

/// Emits one op of a block, or what it calls.
LogicalResult BlockInliner::expand(Operation &op, const Frame *frame, IRMapping &map) {
  auto mapped = [&](ValueRange values) {
    return llvm::map_to_vector(values, [&](Value value) { return map.lookupOrDefault(value); });
  };
  if (auto call = dyn_cast<CallOp>(op)) {
    auto results = inlineCall(call, call.getCalleeAttr(), mapped(call.getArgs()), call.getName(), frame);
    if (succeeded(results))
      map.map(op.getResults(), *results);
    return results;
  }
  if (auto repeat = dyn_cast<RepeatOp>(op)) {
    SmallVector<Value> args = mapped(repeat.getArgs());
    for (int64_t i = 0, count = repeat.getCount(); i < count; ++i) {
      auto results =
          inlineCall(repeat, repeat.getCalleeAttr(), args, llvm::formatv("{0}.{1}", repeat.getName(), i).str(), frame);
      if (failed(results))
        return failure();
      llvm::copy(*results, args.begin());
    }
    map.map(op.getResults(), ArrayRef(args).take_front(op.getNumResults()));
    return success();
  }
  Operation *clone = builder.clone(op, map);
  std::string prefix = frame ? frame->prefix : "";
  if (auto param = dyn_cast<ParamOp>(clone)) {
    param.setName(joinPath(prefix, param.getName()));
    clone->setLoc(locate(op, frame, param.getName()));
    return success();
  }
  std::string path = joinPath(prefix, groupOf(op, /*isModel=*/!frame));
  setPath(clone, path);
  clone->setLoc(locate(op, frame, path));
  return success();
}

LogicalResult BlockInliner::checkNames() {
  llvm::StringMap<ParamOp> known;
  bool sound = true;
  for (auto param : model.getBody().getOps<ParamOp>()) {
    auto [it, isNew] = known.try_emplace(param.getName(), param);
    if (isNew)
      continue;
    sound = false;
    InFlightDiagnostic diagnostic = param.emitError()
                                    << "parameter '" << param.getName() << "' is named twice in @" << model.getSymName()
                                    << "; a tied parameter is one param used twice";
    diagnostic.attachNote(it->second.getLoc()) << "first named here";
  }
  return success(sound);
}

/// Copies the body op by op in front of itself, then erases the original: no op is looked at twice.
LogicalResult BlockInliner::run() {
  Block &body = model.getBody().front();
  SmallVector<Operation *> ops;
  for (Operation &op : body.without_terminator())
    ops.push_back(&op);
  builder.setInsertionPoint(body.getTerminator());
  IRMapping map;
  for (Operation *op : ops)
    if (failed(expand(*op, nullptr, map)))
      return failure();
  for (OpOperand &operand : body.getTerminator()->getOpOperands())
    operand.set(map.lookupOrDefault(operand.get()));
  for (Operation *op : llvm::reverse(ops))
    op->erase();
  if (failed(checkNames()))
    return failure();
  finishPaths(model);
  return success();
}

struct InlineBlocksPass : impl::InlineBlocksPassBase<InlineBlocksPass> {
  void runOnOperation() override {
    for (auto model : getOperation().getOps<ModelOp>())
      if (failed(BlockInliner(model).run()))
        signalPassFailure();
  }
};
} // namespace
} // namespace hocket::nn
