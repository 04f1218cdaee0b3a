// The schedule of a plan as one table attribute a stage, for training and for evaluation.
#pragma once
#include "dialect/Step/Step.h"
#include "passes/Schedule/Table.h"

namespace hocket::step {

/// A stage's rows as they are, with the messages that they name. Under evaluation the schedule's Evaluate is the
/// program's forward body, and its closing Update the program's evaluate body.
TableAttr makeTable(mlir::MLIRContext *context, const schedule::Tables &tables, unsigned stage, bool evaluate);

/// Solves and judges. Faults become errors at `loc`.
std::optional<schedule::Tables> solveSchedule(llvm::StringRef name, unsigned stages, unsigned microbatches,
                                              bool evaluate, mlir::Location loc);
} // namespace hocket::step
