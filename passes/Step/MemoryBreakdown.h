// What the arena of a planned program is made of, by class and by layer, and what packing and alignment cost.
#pragma once
#include "dialect/Step/Step.h"
#include <map>

namespace hocket::step {

struct MemoryBreakdown {
  /// What one layer holds ("h.3"), or a part of the model outside of layers ("wte"); "" for what belongs to none.
  struct Part {
    std::string layer;
    std::map<MemoryClass, int64_t> bytes;
  };
  /// In order of appearance. State as it is; activations and what is communicated in slots: what is busy where a slot
  /// is busiest (so parts add up), times slots.
  std::vector<Part> parts;

  int64_t slots = 0, slotBytes = 0;
  int64_t slotBusyBytes = 0;      ///< the most that is busy at one time: no packing needs less
  int64_t slotUnsharedBytes = 0;  ///< what a slot would need if no two buffers shared a byte
  int64_t workspaceBytes = 0;     ///< outside of slots: what all bodies share, and the tail
  int64_t tailBytes = 0;          ///< what update needs behind the slots
  int64_t workspaceBusyBytes = 0; ///< the most that a body but update uses at one time
  std::string workspacePeak;      ///< where: "backward of h.2"
  int64_t updateBytes = 0;        ///< the most that update uses at one time, over the workspace and the slots
  int64_t leastTailBytes = 0;     ///< what of it must lie behind the slots, as messages may still be on their way there
  int64_t alignmentBytes = 0;     ///< between buffers that last
  int64_t arenaBytes = 0;         ///< of all
};

MemoryBreakdown memoryBreakdown(ProgramOp program);
} // namespace hocket::step
