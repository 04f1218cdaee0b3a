// Which plan a command works on: one of the file's by name, or one made from flags.
#pragma once
#include "dialect/Dist/Dist.h"
#include "dialect/NN/NN.h"
#include "tools/hocket/PlanFlags.h"
#include "tools/hocket/Session.h"
#include <optional>
#include <vector>

namespace hocket::tools {

/// A plan and what it is for.
struct PlanChoice {
  dist::PlanOp plan;
  dist::MeshOp mesh;
  nn::ModelOp model;
  nn::RecipeOp recipe;
  std::optional<int64_t> maxImplicitBytes; ///< that a rank may send in a step unasked
  std::string semantics = {};              ///< of sends; empty: rendezvous
  bool forGpu = false;                     ///< target "cuda": kernels of an update share launches
  bool epilogues = true;                   ///< for GPUs: products take along what cublasLt does with them
};

/// The file in which a plan made from flags stands, for messages.
inline constexpr const char *planFromFlags = "plan from flags";

/// Resolves the flags against the file; a plan made from flags is added to the module and printed on stderr with the
/// defaults taken. `all`: without --plan and --mesh, every plan of the file; else that is an error which lists them.
std::vector<PlanChoice> choosePlans(Session &session, const PlanFlags &flags, bool all);
} // namespace hocket::tools
