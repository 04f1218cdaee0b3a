// What a step costs one rank: seconds, bytes on the wire, operations, bytes at rest; counted on the local program.
//
//   an op         max(operations / flops per second, bytes of operands and results / memory bytes per second)
//   (roofline) a collective  over n ranks by rings, S the bytes of the whole value with its own element type:
//                   all_reduce                     2 (n-1) (latency + S/n / link)
//                   reduce_scatter, all_gather       (n-1) (latency + S/n / link)
//                   all_to_all                       (n-1) (latency + S/n / link), S what a rank holds
//                   shift                            latency + S / link, S what a rank holds
//                 (alpha-beta; Thakur, Rabenseifner, Gropp 2005, section 4). `link` is in one direction, and every ring
//                 has it to itself.
//   a step        begin once, microbatch m times, update once
//
// What it leaves out: overlap of the two, fusion (each op reads and writes its operands), messages between stages and
// their bubble (every layer is counted, whatever stage it is on), contention. It is there to compare forms, not to
// foretell times.
#pragma once
#include "passes/Dist/ShortStep.h"

namespace hocket::dist {

/// Of one rank.
struct Machine {
  double flops = 50e9;       ///< a second
  double memoryBytes = 10e9; ///< a second, through its memory
  double linkBytes = 5e9;    ///< a second, in one direction
  double latency = 5e-6;     ///< seconds, of one step of a ring
  double capacity = 80e9;    ///< bytes of memory; a form that needs more at rest comes behind all that fit
  /// A CPU rank among others on one host, as tools/bench measures a core: the defaults.
  static Machine cpu() { return {}; }
  /// One H100 SXM: bf16 at half of its peak, 3.35 TB/s, NVLink 450 GB/s in one direction (NVIDIA's data sheet).
  static Machine gpu() { return {500e12, 3.35e12, 450e9, 10e-6, 80e9}; }
};

struct StepCost {
  double computeSeconds = 0, wireSeconds = 0;
  double flops = 0;
  double wireBytes = 0;                ///< that one rank sends in a step
  double restBytes = 0;                ///< parameters, their state, accumulators
  llvm::StringMap<double> wireByKind;  ///< "all_reduce f32 over tp" -> bytes sent
  llvm::StringMap<double> wireByPhase; ///< "begin", "forward", "backward", "weight_grad", "update" -> bytes sent
  double seconds() const { return computeSeconds + wireSeconds; }
};

/// Of the partitioned step in `step`, each op counted for as many layers as its own stands for.
StepCost costOf(nn::TrainingStepOp local, MeshOp mesh, const ShortStep &step, const Machine &machine);

/// The axes of a collective; null for what is none. A collective is an op of the dist dialect with axes and a cause.
AxesAttr collectiveAxes(mlir::Operation *op);
/// 2(n-1)/n for all_reduce, 1 for shift, (n-1)/n for the others: what a rank sends for each byte of the whole value.
double sentShare(mlir::Operation *collective, int64_t ranks);
} // namespace hocket::dist
