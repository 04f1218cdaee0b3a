// The schedule of a plan as one table attribute a stage, for training and for evaluation.
#pragma once
#include "dialect/Step/Step.h"
#include "passes/Schedule/Table.h"

namespace hocket::step {

/// A stage's table with body indices replaced: `bodies` lists the kinds of the program's bodies in order, `messages` the
/// program's messages as indices into tables.messages. Under evaluation the forward body stands for Evaluate, and a last row
/// runs the evaluate body once all else has finished.
TableAttr makeTable(mlir::MLIRContext *context, const schedule::Tables &tables, unsigned stage,
                    llvm::ArrayRef<BodyKind> bodies, llvm::ArrayRef<unsigned> messages, bool evaluate);

/// Solves and judges. Faults become errors at `loc`.
std::optional<schedule::Tables> solveSchedule(llvm::StringRef name, unsigned stages, unsigned microbatches, bool evaluate,
                                              mlir::Location loc);
} // namespace hocket::step
