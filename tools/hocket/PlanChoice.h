// Which plan a command works on: one of the file's by name, or one made from flags.
#pragma once
#include "dialect/Dist/Dist.h"
#include "dialect/NN/NN.h"
#include "tools/hocket/Session.h"
#include <optional>
#include <vector>

namespace CLI {
class App;
}

namespace hocket::tools {

/// The flags of a plan, as given. Empty optionals take defaults, which are printed.
struct PlanFlags {
  std::string plan, mesh;
  std::optional<int64_t> microbatch, zero;
  std::optional<std::string> schedule, experts;
  std::optional<int64_t> chunks;
  std::optional<std::string> split;
  std::optional<int64_t> maxImplicitBytes; ///< of plans by name too
  std::string semantics;                   ///< of sends, that programs are judged by; empty: rendezvous
  std::optional<uint64_t> memory;          ///< bytes that a rank may use; only where a command has the flag
  bool sequenceParallel = false;
  std::string context;                ///< empty if not given
  std::vector<std::string> recompute; ///< "full", "selective:h.*.attn"
  std::string overlap;                ///< "gradients,parameters,activations" or a part of it, "all"; empty if not given
  std::vector<std::string> offload;   ///< "optimizer_state", "activations:h.*"

  /// `scheduleAlone`: --schedule and --chunks may stand without --mesh.
  void addTo(CLI::App &command, bool scheduleAlone = false);
};

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

/// Resolves the flags against the file; a plan made from flags is added to the module and printed on stderr with the
/// defaults taken. `all`: without --plan and --mesh, every plan of the file; else that is an error which lists them.
std::vector<PlanChoice> choosePlans(Session &session, const PlanFlags &flags, bool all);
} // namespace hocket::tools
