// The metrics file of a run that goes on from a checkpoint: one file that reads as if the run had never ended. Lines of
// steps after the checkpoint are dropped, since those steps run again and give the same numbers.
#ifndef HOCKET_RUNTIME_LAUNCH_METRICSFILE_H
#define HOCKET_RUNTIME_LAUNCH_METRICSFILE_H

#include "runtime/Program/Result.h"
#include <cstdint>

namespace hocket::run {

// Bytes of a metrics file from its start to the first line of a step after `step`, or to a last line that is not
// complete (its run was killed). 0 where there is no file. Fails where a line is no metrics line: the file is another.
runtime::Result<uint64_t> metricsUpTo(const std::string &path, uint64_t step);

} // namespace hocket::run
#endif
