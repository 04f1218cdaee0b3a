// What a plan makes of the parameters and values of a file, by where they stand in it.
#pragma once
#include "dialect/Dist/Dist.h"
#include "mlir/IR/BuiltinOps.h"
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace hocket::lsp {

/// What one rank holds of a tensor.
struct Piece {
  std::string shape;    ///< "128x3x2x32"
  std::string sharding; ///< "dim 2 over tp", "whole", "a sum over dp"
  uint64_t bytes = 0;   ///< padding included
  int64_t rank = 0;     ///< of the tensor
  bool operator==(const Piece &) const = default;
};

struct ParamFact {
  std::string name; ///< "h.3.attn.qkv.weight"
  Piece rest;
  std::optional<Piece> moment; ///< of one moment of the optimizer; none if frozen
};

/// One op of the training step that an op of the file became; blocks give one for each layer.
struct ValueFact {
  std::string path;
  std::vector<std::optional<Piece>> results, operands; ///< of one microbatch
};

struct StageFact {
  uint64_t stage = 0, bytes = 0; ///< memory of a rank, planned
  std::string layers;
};

/// Line and column of an op, both from 1.
using OpPlace = std::pair<unsigned, unsigned>;

struct PlanFacts {
  std::string plan, mesh; ///< "pp=2 dp=2 tp=2"
  int64_t ranks = 0, microbatches = 0;
  std::map<OpPlace, std::vector<ParamFact>> params;
  std::map<OpPlace, std::vector<ValueFact>> values;
  std::vector<StageFact> stages;
};

/// Names only.
PlanFacts factsOf(dist::PlanOp plan, dist::MeshOp mesh);
/// From a module lowered to shardings: params and values.
void collectFacts(mlir::ModuleOp sharded, PlanFacts &facts);
/// From a module lowered to kernels: memory of stages.
void collectStages(mlir::ModuleOp kernels, PlanFacts &facts);
} // namespace hocket::lsp
