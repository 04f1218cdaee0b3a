// The state of one rank as files, for tests and for looking: DIR/stepS.rankR.bin holds the padded local buffers one
// after the other, DIR/stepS.rankR.json says what they are:
//   {"step": 1, "rank": 3, "coordinates": "pp=0 dp=1 tp=1", "stage": 0, "file": "step1.rank3.bin", "tensors": [
//     {"name": "wte", "kind": "Parameter", "type": "F32", "shape": [256, 64], "box": [[0, 128], [0, 64]],
//      "padded": [128, 64], "offset": 0, "bytes": 32768}, …]}
// A script assembles a global tensor by copying each rank's box.
#ifndef HOCKET_RUNTIME_EXECUTOR_STATEDUMP_H
#define HOCKET_RUNTIME_EXECUTOR_STATEDUMP_H

#include "runtime/Executor/RankContext.h"

namespace hocket::runtime {

Status dumpState(const RankContext &context, const std::string &directory, uint64_t step);

} // namespace hocket::runtime
#endif
