// Initial values of state tensors. Those of parameters are the numbers of runtime/Program/Random.h: a function of
// (seed, name, global element index) and of nothing else, so that every plan starts from the same model.
#ifndef HOCKET_RUNTIME_EXECUTOR_INITIALVALUES_H
#define HOCKET_RUNTIME_EXECUTOR_INITIALVALUES_H

#include "runtime/Device/Cpu/ThreadPool.h"
#include "runtime/Program/Mesh.h"
#include <array>

namespace hocket::runtime {

// program::standardNormal of elements [4 * block, 4 * block + 4) of a stream, to the last bit, in a third of the time.
std::array<double, 4> normalBlock(uint64_t seed, uint64_t stream, uint64_t block);

// Fills the rank's padded shard of a state tensor at `shard` (its buffer): values in its box, zero elsewhere.
void initialise(void *shard, const program::State &state, const program::Mesh &mesh, uint32_t rank, uint64_t seed,
                ThreadPool &pool);

} // namespace hocket::runtime
#endif
