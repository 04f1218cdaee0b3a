// See VerifyEach.h.
#include "dialect/NN/VerifyEach.h"
#include "mlir/IR/SymbolTable.h"
using namespace mlir;

/// Symbol tables keep the first op of a name; the others are faults.
static void verifyNamesOnce(ModuleOp module) {
  llvm::StringMap<Operation *> symbols;
  for (Operation &op : *module.getBody())
    if (auto symbol = dyn_cast<SymbolOpInterface>(op)) {
      auto [first, fresh] = symbols.try_emplace(symbol.getName(), &op);
      if (fresh)
        continue;
      auto fault = op.emitError() << "redefines '" << symbol.getName()
                                  << "'; blocks, models, recipes, meshes and plans share one table of names";
      fault.attachNote(first->second->getLoc()) << "first defined here";
    }
}

void hocket::nn::verifyEach(ModuleOp module, llvm::function_ref<bool(Operation *)> skip) {
  verifyNamesOnce(module);
  SymbolTableCollection tables;
  module.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (skip && skip(op))
      return;
    // Of the module's own region only uses of symbols would be checked, up to the first fault; that is done below.
    if (failed(op->getName().verifyInvariants(op)) ||
        (!isa<ModuleOp>(op) && failed(op->getName().verifyRegionInvariants(op))))
      return;
    if (auto user = dyn_cast<SymbolUserOpInterface>(op))
      (void)user.verifySymbolUses(tables);
  });
}
