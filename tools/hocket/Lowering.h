// One plan of a module through every layer.
#pragma once
#include "mlir/IR/OwningOpRef.h"
#include "passes/Analysis/PlanShape.h"
#include "tools/hocket/ModelFile.h"
#include "tools/hocket/PlanChoice.h"

namespace hocket::tools {

/// A form of `split` and the tactics that it stands for, as a file would have them.
struct FoundTactics {
  std::string form; ///< "split auto over tp"
  std::vector<std::string> tactics;
};
/// What most commands work on: one plan of a file, and how it cuts the batch.
struct Job {
  PlanChoice choice;
  analysis::BatchShape shape;
  std::vector<FoundTactics> found = {};
};
/// Loads and verifies a file and chooses the plan of the flags. Nothing after reports: of every fault, also of those
/// that do not depend on the batch where that does not divide.
std::optional<Job> openJob(Session &session, const ModelFile &model, const PlanFlags &flags);

/// The layers of the compiler, in order; what `--emit` names.
enum class Layer { NN, Sharded, Local, Step, Kernels };

/// A copy of the session's module lowered under the plan as far as `until`; errors have been reported where it is null.
/// The session's module is not touched.
///   NN       one training step over whole tensors
///   Sharded  every value has a sharding
///   Local    the program of one rank: local types, collectives; judged
///   Step     one program a stage: bodies, messages, schedules; values in bodies are tensors
///   Kernels  fused, memory planned, verified; kernels are functions
mlir::OwningOpRef<mlir::ModuleOp> lower(Session &session, const PlanChoice &choice, const analysis::BatchShape &shape,
                                        Layer until);

/// Reports all that is wrong with a plan, going on after a fault with what does not depend on it. True if nothing is.
/// `complete`: false for a plan that lost faulty tactics; what only their absence causes is not reported then.
/// `seen`: is shown the program, all layers lowered, or null where faults leave none; a faulty order of rows leaves
/// one.
using ProgramWatcher = llvm::function_ref<void(const PlanChoice &, mlir::ModuleOp)>;
bool checkPlan(Session &session, const PlanChoice &choice, bool complete = true, ProgramWatcher seen = nullptr);
/// Every fault of a file that is loaded: of its ops, and of the plans that the flags name (all, without flags). The
/// plans that were checked.
std::vector<PlanChoice> checkFile(Session &session, const PlanFlags &flags, ProgramWatcher seen = nullptr);
/// After verifiers found faults: takes the faulty tactics out of their plans, so that the others can be checked. False
/// if anything else is faulty as well.
bool dropFaultyTactics(Session &session);
/// Reports schedules that are not known; their plans go on with 1f1b.
void checkScheduleNames(Session &session);
} // namespace hocket::tools
