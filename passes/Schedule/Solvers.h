// The named schedules. Each lies in a file of its own that opens with its timeline; each gives only the order of
// bodies.
#pragma once

#include "passes/Schedule/Assemble.h"

namespace hocket::schedule {

/// Where a schedule wants the chunks of a stage.
enum class Shape {
  OneChunk,    ///< a stage is one piece of the model
  Interleaved, ///< at least two chunks, virtual stage k on stage k mod p
  V            ///< two chunks: down the stages and up again, so that the first stage holds both ends of the model
};

struct Solver {
  const char *name;    ///< as in the plan and on the command line
  const char *summary; ///< one line
  /// The order for a checked problem that the solver's `adopt` has seen, or nothing and a fault when the schedule
  /// cannot carry it.
  std::optional<Orders> (*order)(const Problem &, Faults &);
  Shape shape = Shape::OneChunk;
  bool splitsWeightGrad = false; ///< the backward runs as two bodies
  uint32_t receiveAhead = 0;     ///< slots beyond those of its order without which its messages wait in a circle
};

/// All of them, in the order of the command line's documentation.
const std::vector<Solver> &solvers();

/// Null and a fault that lists the known names (and the nearest) when there is none of this name.
const Solver *findSolver(const std::string &name, Faults &faults);

/// Fills in what the schedule of this name decides about the problem: whether the backward is split, how many chunks
/// where they are 1 and not said to be given, and where they lie. Fails with a fault where the chunks are not the
/// schedule's.
bool adopt(const std::string &name, Problem &problem, Faults &faults, bool chunksGiven = false);

/// Checks the problem, orders and assembles it. Under problem.evaluate every name gives the forward-only order. The
/// problem must be one that `adopt` has completed.
std::optional<Tables> solve(const std::string &name, const Problem &problem, Faults &faults);

// One file each: GPipe.cpp, OneFOneB.cpp, Interleaved.cpp, ZbH1.cpp, …; ForwardOnly.cpp.
std::optional<Orders> orderGPipe(const Problem &problem, Faults &faults);
std::optional<Orders> orderOneFOneB(const Problem &problem, Faults &faults);
std::optional<Orders> orderInterleaved(const Problem &problem, Faults &faults);
std::optional<Orders> orderZbH1(const Problem &problem, Faults &faults);
std::optional<Orders> orderZbH2(const Problem &problem, Faults &faults);
std::optional<Orders> orderZb1p(const Problem &problem, Faults &faults);
std::optional<Orders> orderZb2p(const Problem &problem, Faults &faults);
std::optional<Orders> orderZbV(const Problem &problem, Faults &faults);
std::optional<Orders> orderVHalf(const Problem &problem, Faults &faults);
std::optional<Orders> orderVMin(const Problem &problem, Faults &faults);
std::optional<Orders> orderDualPipeV(const Problem &problem, Faults &faults);
Orders orderForwardOnly(const Problem &problem);

/// Two chunks a stage as a V: virtual stages 0 … p-1 are chunk 0 of stages 0 … p-1, virtual stages p … 2p-1 chunk 1 of
/// stages p-1 … 0.
std::vector<Place> placeV(uint32_t stages);

} // namespace hocket::schedule
