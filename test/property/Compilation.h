// The layers that the compiler makes of a file and its plan @plan.
#pragma once
#include "mlir/Pass/PassManager.h"
#include "test/property/Run.h"
#include "tools/hocket/Lowering.h"

namespace hocket::property {

class Compilation {
public:
  /// Reads and checks the file. On its end the sentences of all errors are in `result`.
  Compilation(const std::string &text, int64_t wholeBelow, RunResult &result);
  ~Compilation();

  bool sound = false; ///< false where the file or its plan was refused: `result` says by whom
  analysis::BatchShape shape;
  nn::RecipeOp recipe() { return choice.recipe; }

  /// The step over whole tensors, all of the batch as one microbatch: what a plan must not change. Null after a
  /// refusal.
  mlir::OwningOpRef<mlir::ModuleOp> whole();
  /// The program of one rank.
  mlir::OwningOpRef<mlir::ModuleOp> local();
  /// Takes the local program on to planned and verified step programs.
  bool toStep(mlir::ModuleOp module);

private:
  bool refuse(const char *who) { return result.refusedBy = who, false; }
  bool choose();
  mlir::OwningOpRef<mlir::ModuleOp> lower(int64_t rows, int64_t microbatches,
                                          llvm::function_ref<void(mlir::OpPassManager &)> more);
  bool run(mlir::PassManager &manager, mlir::ModuleOp module);

  tools::Session session{tools::Session::Printing::None};
  int64_t wholeBelow;
  RunResult &result;
  tools::PlanChoice choice;
};
} // namespace hocket::property
