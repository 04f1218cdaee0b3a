// `split auto`: tensor parallelism of least cost, for any model, by what its ops are and not by what its parameters are
// called.
//
// Every combination of choices (SplitChoices.h) is a form. A form is priced by compiling it: its splits take the place
// of `split auto` in a copy of the plan, the passes of this folder make the local program of a short step
// (ShortStep.h), and the cost of that is counted (StepCost.h). So whatever the plan also holds (ZeRO, sequence,
// experts, another axis) counts as it will be, and no rule of propagation is written twice. A form that some pass
// refuses is none.
//
// Up to `exhaustive` forms all are priced. Beyond, descent: from nothing split and from all split, one choice is
// changed at a time, always the one that gains most, and where none gains, two at once; a local optimum of that is
// taken. The form with the least seconds wins; of those within a thousandth of it the one that holds least. One whose
// state does not fit the machine's memory, taken as even over the stages, comes behind all that do.
#pragma once
#include "passes/Dist/SplitChoices.h"
#include "passes/Dist/StepCost.h"

namespace hocket::dist {

struct AutoSplitOptions {
  Machine machine;
  int64_t wholeBelow = 65536; ///< of dist-apply-plan
  int64_t exhaustive = 64;
};

/// One form and its cost.
struct SplitForm {
  llvm::SmallVector<int> options; ///< by choice
  StepCost cost;
};

struct AutoSplit {
  llvm::SmallVector<SplitChoice> choices;
  llvm::SmallVector<SplitForm>
      forms; ///< all that were priced and are legal, best first; the first option everywhere too

  llvm::SmallVector<ExplicitSplit> splitsOf(const SplitForm &form) const;
  /// "vocabulary of 256, 4 heads over 2"; "nothing".
  std::string textOf(const SplitForm &form) const;
};

/// Prices the forms of `tactic`. `forms` is empty where the rest of the plan is at fault, which is not reported here,
/// and where there is one rank only.
AutoSplit findAutoSplit(nn::TrainingStepOp step, PlanOp plan, MeshOp mesh, const DimensionClasses &classes,
                        SplitOp tactic, llvm::ArrayRef<std::pair<nn::SlotOp, int>> taken,
                        const AutoSplitOptions &options);

/// Puts the best form into the plan in place of `tactic`, which is erased, as tactics that name parameters, at its
/// location. Warns where nothing is split. Fails, with an error, where nothing could be.
llvm::FailureOr<llvm::SmallVector<SplitOp>> writeAutoSplit(nn::TrainingStepOp step, MeshOp mesh, const AutoSplit &found,
                                                           SplitOp tactic);
} // namespace hocket::dist
