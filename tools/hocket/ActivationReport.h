// What lies in the slot of a microbatch between its forward and its backward, op by op, and what is made again instead:
// from the step programs before fusion, where every value still is the op that makes it.
#pragma once
#include "tools/hocket/Lowering.h"
#include <nlohmann/json.hpp>

namespace hocket::tools {

/// One value of one microbatch.
struct KeptActivation {
  std::string path, op, body; ///< "h.3.attn", "attention", body that leaves it: "forward"; op is "received" of messages
  uint64_t bytes = 0;
};
/// One op of phase recompute.
struct MadeAgain {
  std::string path, op;
  uint64_t bytes = 0, flops = 0; ///< of its results; of one microbatch
  bool collective = false;
};
struct StageActivations {
  uint32_t stage = 0, slots = 0; ///< microbatches in flight, as the schedule has it
  uint64_t microbatches = 0;
  std::vector<KeptActivation> kept;
  std::vector<MadeAgain> again;
  uint64_t modelFlops = 0, recomputedFlops = 0; ///< of one rank in one microbatch, all chunks
};

/// Of a module lowered to Layer::Step.
std::vector<StageActivations> activationsOf(mlir::ModuleOp steps);
nlohmann::ordered_json activationsJson(const std::vector<StageActivations> &stages);
/// Layers that are alike are one line.
std::string activationsText(const std::vector<StageActivations> &stages);
} // namespace hocket::tools
