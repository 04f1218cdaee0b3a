// See ValueNames.h.
#include "passes/DistToStep/ValueNames.h"
#include "llvm/ADT/StringMap.h"
using namespace mlir;

llvm::DenseMap<Value, std::string> hocket::step::nameValues(Block &block) {
  llvm::DenseMap<Value, std::string> names;
  llvm::StringMap<unsigned> seen;
  for (Operation &op : block) {
    auto named = dyn_cast<OpAsmOpInterface>(op);
    auto give = [&](Value value, StringRef name) {
      unsigned count = ++seen[name];
      names[value] = count == 1 ? name.str() : (name + "." + Twine(count)).str();
    };
    if (named)
      named.getAsmResultNames(give);
    for (Value result : op.getResults())
      if (!names.count(result))
        give(result, op.getName().stripDialect());
  }
  return names;
}

std::string hocket::step::cleanName(StringRef name) {
  auto [path, use] = name.split('#');
  return use.empty() ? path.str() : (path + ".use" + use).str();
}
