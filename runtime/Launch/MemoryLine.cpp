// See MemoryLine.h.
#include "runtime/Launch/MemoryLine.h"
#include "runtime/Executor/RankDevice.h"
#include "runtime/Launch/Machine.h"
#include "runtime/Program/Mesh.h"
#include <algorithm>
#include <fmt/format.h>

namespace hocket::run {

std::string memoryLine(const Options &options, const program::Program &program, uint64_t communication, uint64_t peak) {
  program::Mesh mesh(program);
  uint64_t largest = 0, sum = 0, offloaded = 0;
  for (uint32_t rank = 0; rank < mesh.worldSize(); ++rank) {
    const program::RankProgram &own = *program.ranks()->Get(program::stageOf(mesh, program, rank));
    largest = std::max<uint64_t>(largest, own.arenaBytes());
    sum += own.arenaBytes();
    offloaded += own.hostBytes();
  }
  bool onGpus = runtime::isForGpus(program);
  return fmt::format("memory planned: {} for all ranks{} (at most {} each){}{}; used at the peak{}: {}\n",
                     bytesText(sum),
                     !onGpus           ? ""
                     : options.emulate ? " on emulated GPUs"
                                       : " on GPUs",
                     bytesText(largest),
                     offloaded ? fmt::format(", {} of the host's for what is offloaded", bytesText(offloaded)) : "",
                     communication ? fmt::format(" and {} for communication", bytesText(communication)) : "",
                     onGpus ? " by the hosts" : "", bytesText(peak));
}

} // namespace hocket::run
