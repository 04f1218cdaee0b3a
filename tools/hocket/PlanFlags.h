// The flags that a plan is made from. What is wrong with their words is found before any file is read, with every other
// fault of the command line.
#pragma once
#include "runtime/Launch/FlagRules.h"
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

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
  void addTo(CLI::App &command, run::FlagRules &rules, bool scheduleAlone = false);
};

/// All that is wrong with the words of a mesh, "pp=2,dp=2".
void meshFaults(const std::string &text, std::vector<std::string> &faults);
/// The mesh and the plan that sound flags describe, as IR, for the model of this name; and the defaults it takes, "zero
/// 0, schedule 1f1b".
struct PlanText {
  std::string ir, defaults;
};
PlanText planText(const PlanFlags &flags, const std::string &model);
} // namespace hocket::tools
