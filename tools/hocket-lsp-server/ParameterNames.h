// The parameters a model has once its blocks are in place, found without running a pass.
#pragma once
#include "dialect/NN/NN.h"
#include "mlir/IR/BuiltinOps.h"

namespace hocket::lsp {

/// "h.3.attn.qkv.weight", and the `param` it comes from.
struct ParameterName {
  std::string name;
  nn::ParamOp param;
};
/// In order of the model; of a repeated block every copy. Stops at `most`; blocks that call themselves are left out.
std::vector<ParameterName> parameterNames(nn::ModelOp model, size_t most = 100'000);

/// Ops of all models with every block in place, counted up to `most`.
int64_t opsMultipliedOut(mlir::ModuleOp module, int64_t most);
} // namespace hocket::lsp
