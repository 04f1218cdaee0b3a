// See ParameterNames.h.
#include "tools/hocket-lsp-server/ParameterNames.h"
using namespace hocket;
using namespace hocket::lsp;
using namespace mlir;

namespace {
struct Walk {
  SymbolTable symbols;
  size_t most;
  std::vector<ParameterName> found;
  SmallVector<Operation *> inside; ///< blocks being walked

  Walk(ModuleOp module, size_t most) : symbols(module), most(most) {}

  void callee(StringRef name, const std::string &prefix) {
    auto block = symbols.lookup<nn::BlockOp>(name);
    if (!block || llvm::is_contained(inside, block.getOperation()))
      return;
    inside.push_back(block);
    body(block.getBody(), prefix);
    inside.pop_back();
  }
  void body(Region &region, const std::string &prefix) {
    if (region.empty())
      return;
    for (Operation &op : region.front()) {
      if (found.size() >= most)
        return;
      if (auto param = dyn_cast<nn::ParamOp>(op))
        found.push_back({prefix + param.getName().str(), param});
      else if (auto call = dyn_cast<nn::CallOp>(op))
        callee(call.getCallee(), prefix + call.getName().str() + ".");
      else if (auto repeat = dyn_cast<nn::RepeatOp>(op))
        for (int64_t i = 0; i < int64_t(repeat.getCount()) && found.size() < most; ++i) {
          size_t before = found.size();
          callee(repeat.getCallee(), prefix + repeat.getName().str() + "." + std::to_string(i) + ".");
          if (found.size() == before)
            break; // no copy has any
        }
    }
  }
};

struct Count {
  SymbolTable symbols;
  int64_t most;
  llvm::DenseMap<Operation *, int64_t> known; ///< 0 while being counted: blocks that call themselves are faults

  Count(ModuleOp module, int64_t most) : symbols(module), most(most) {}
  int64_t of(Region &region) {
    int64_t ops = 0;
    if (!region.empty())
      for (Operation &op : region.front()) {
        StringRef callee;
        int64_t times = 1;
        if (auto call = dyn_cast<nn::CallOp>(op))
          callee = call.getCallee();
        else if (auto repeat = dyn_cast<nn::RepeatOp>(op))
          callee = repeat.getCallee(), times = std::clamp<int64_t>(repeat.getCount(), 0, most);
        auto block = callee.empty() ? nn::BlockOp() : symbols.lookup<nn::BlockOp>(callee);
        ops = std::min(most, ops + times * std::max<int64_t>(1, block ? ofBlock(block) : 1));
      }
    return ops;
  }
  int64_t ofBlock(nn::BlockOp block) {
    auto [it, fresh] = known.try_emplace(block, 0);
    if (!fresh)
      return it->second;
    int64_t ops = of(block.getBody());
    return known[block] = ops;
  }
};
} // namespace

std::vector<ParameterName> hocket::lsp::parameterNames(nn::ModelOp model, size_t most) {
  Walk walk(model->getParentOfType<ModuleOp>(), most);
  walk.body(model.getBody(), "");
  return std::move(walk.found);
}

int64_t hocket::lsp::opsMultipliedOut(ModuleOp module, int64_t most) {
  Count count(module, most);
  int64_t ops = 0;
  for (auto model : module.getOps<nn::ModelOp>())
    ops = std::min(most, ops + count.of(model.getBody()));
  return ops;
}
