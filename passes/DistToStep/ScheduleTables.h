// The schedule of a plan as one table attribute a stage, for training and for evaluation.
#pragma once
#include "dialect/Dist/Dist.h"
#include "passes/DistToStep/StagePlacement.h"
#include "passes/Schedule/RowGraph.h"

namespace hocket::step {

/// The rows of the program's stage as they are, with the messages that they name. Under evaluation the schedule's
/// Evaluate is the program's forward body, and its closing Update the program's evaluate body. In training the last
/// microbatch runs the program's final bodies, where it has them (FinalBodies.h).
TableAttr makeTable(mlir::MLIRContext *context, const schedule::Tables &tables, ProgramOp program, bool evaluate);

/// What a plan's schedule is to solve: with the chunks, their places and the split that it decides about.
struct PlanSchedule {
  std::string name;
  schedule::Problem problem;
  std::optional<schedule::Tables> given; ///< of `schedule file("…")`
  std::string numbering = {};            ///< of that: UserSchedule::numbering
  schedule::Semantics asked = {};        ///< beside rendezvous, which all must hold
};

/// Of a tactic, null for one stage without a schedule of its own. A table of the user's is read here: its path is
/// relative to the file in which the tactic stands. Faults become errors at `loc`.
std::optional<PlanSchedule> describeSchedule(dist::StagesOp tactic, unsigned stages, unsigned microbatches,
                                             mlir::Location loc);

/// Tables, and whether they may run. Not sound, but there: all rows are as they must be and only their order is at
/// fault, so that programs can be made of them in which other faults are found.
struct SolvedSchedule {
  std::optional<schedule::Tables> tables;
  bool sound = false;
};

/// Solves (or takes the user's table) and judges. Faults become errors at `loc`; each row of a deadlock is a note at
/// the layer with which its piece of the model begins. `batch`, if not empty, says in a note what the number of
/// microbatches comes from, where a schedule cannot do with it.
SolvedSchedule solveSchedule(const PlanSchedule &schedule, bool evaluate, const StagePlacement &placement,
                             mlir::Location loc, std::optional<std::pair<mlir::Location, std::string>> batch = {});
} // namespace hocket::step
