// The most f32 operations a second that this machine's cores do: the limit that a step is held against.
#ifndef HOCKET_TOOLS_BENCH_GEMM_PEAK_H
#define HOCKET_TOOLS_BENCH_GEMM_PEAK_H

namespace hocket::bench {

// Multiply-adds on registers alone in `threads` threads at once, for about 20 ms: operations (two a multiply-add) per
// second of all threads together, in the widest vectors this CPU has.
double flopsPerSecond(int threads);

} // namespace hocket::bench
#endif
