// The line at the end of a run that says what memory was planned and used.
#ifndef HOCKET_RUNTIME_LAUNCH_MEMORYLINE_H
#define HOCKET_RUNTIME_LAUNCH_MEMORYLINE_H

#include "runtime/Launch/Options.h"

namespace hocket::run {

// `communication`: bytes that ranks of one host share to talk to each other; 0 where there are none. `peak`: the most
// that processes took of the hosts' memory.
std::string memoryLine(const Options &options, const program::Program &program, uint64_t communication, uint64_t peak);

} // namespace hocket::run
#endif
