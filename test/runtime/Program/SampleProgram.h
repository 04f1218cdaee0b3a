// A small hand-written program for the tests of file format, executor and launcher: two stages of two data-parallel
// ranks each (<pp=2, dp=2>), three microbatches, one-forward-one-backward, four messages a microbatch, every kind of
// collective but all_to_all.
//
//   stage 0:  h = w[token]                           dw[token] += dh        w -= rate * dw / count, split over dp
//   stage 1:  loss += u * h * next, count += 1       dh = u * next, du += h * next      u -= rate * du / count
//
//   stage 0   begin F0 F1 B0 F2 B1 B2 update
//   stage 1   begin F0 B0 F1 B1 F2 B2 update
#ifndef HOCKET_TEST_RUNTIME_PROGRAM_SAMPLEPROGRAM_H
#define HOCKET_TEST_RUNTIME_PROGRAM_SAMPLEPROGRAM_H

#include "runtime/Program/ProgramFile.h"

namespace hocket::sample {

inline constexpr uint64_t vocabulary = 5; // over dp = 2: shards of 3 and 2, padded to 3
inline constexpr uint64_t rows = 2, sequence = 4, microbatches = 3, dataShards = 2;
inline constexpr uint64_t cells = rows * sequence; // of a microbatch
inline constexpr float rate = 0.5f;

program::ProgramT sampleProgram();

} // namespace hocket::sample
#endif
