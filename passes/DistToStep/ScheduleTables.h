// The schedule of a plan as one table attribute a stage, for training and for evaluation.
#pragma once
#include "dialect/Step/Step.h"
#include "passes/Schedule/Problem.h"

namespace hocket::step {

/// A stage's rows as they are, with the messages that they name. Under evaluation the schedule's Evaluate is the
/// program's forward body, and its closing Update the program's evaluate body.
TableAttr makeTable(mlir::MLIRContext *context, const schedule::Tables &tables, unsigned stage, bool evaluate);

/// What the schedule of this name is to solve: with the chunks, their places and the split that it decides about.
/// Faults become errors at `loc`.
std::optional<schedule::Problem> describeProblem(llvm::StringRef name, unsigned stages, unsigned chunks,
                                                 unsigned microbatches, mlir::Location loc);

/// Solves and judges. Faults become errors at `loc`.
std::optional<schedule::Tables> solveSchedule(llvm::StringRef name, const schedule::Problem &problem,
                                              mlir::Location loc);
} // namespace hocket::step
