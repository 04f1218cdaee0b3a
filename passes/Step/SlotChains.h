// Which chunks of a stage share the slot of a microbatch: those that follow each other in the model hand their values
// over in place, in buffers that both use. (In passes/Schedule the same chains follow from a problem, see Chains
// there.)
#pragma once
#include "dialect/Step/Step.h"
#include "passes/Schedule/Problem.h"

namespace hocket::step {

class SlotChains {
public:
  explicit SlotChains(ProgramOp program);

  uint64_t chunks() const { return heads.size(); }
  /// The lowest chunk that shares its slot with `chunk`.
  uint64_t head(uint64_t chunk) const { return heads[chunk]; }
  /// The chain of a slot's buffer, by its head; 0 for one that nothing uses.
  uint64_t chainOf(BufferOp buffer) const;

private:
  llvm::SmallVector<uint64_t> heads;
};

/// Where the pieces of the model lie, from messages and chains, in the model's order. Empty where they lie as usual
/// (virtual stage k on stage k mod p), and where messages do not make one line of all chunks (told elsewhere).
std::vector<schedule::Place> placementOf(llvm::ArrayRef<ProgramOp> programs, unsigned chunks);
} // namespace hocket::step
