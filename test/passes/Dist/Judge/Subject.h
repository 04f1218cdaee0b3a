// A partitioned tiny model whose copies are changed, judged, and run by reference semantics.
#pragma once
#include "passes/Dist/Judge/PartitionJudge.h"
#include "test/passes/Dist/PlanRuns.h"

namespace hocket::testing {

class Subject {
public:
  Subject(const TestModel &model, const TestPlan &plan);

  bool compiled() const { return bool(program.step); }
  mlir::OwningOpRef<mlir::ModuleOp> copy() const {
    return mlir::cast<mlir::ModuleOp>(mlir::ModuleOp(*program.module)->clone());
  }
  mlir::MLIRContext *context() const { return program.context.get(); }

  /// Verifiers and judge have nothing against it; what they say goes to `said`.
  static bool accepts(mlir::ModuleOp module, std::string *said = nullptr);
  /// Its ops are sound by themselves, and shapes are those that axes make: others cannot be run.
  static bool hasMeaning(mlir::ModuleOp module);
  /// One step ends with the loss, norm, gradients and parameters of the unchanged program, within 1e-9.
  bool runsAlike(mlir::ModuleOp module) const;

private:
  std::unique_ptr<interpreter::Interpreter> interpreterOf(mlir::ModuleOp module) const;

  const TestModel &model;
  Program program;
  interpreter::LockstepOps ops;
  std::unique_ptr<interpreter::Interpreter> reference;
  interpreter::StepResult expected;
  interpreter::Batch batch;
};

nn::TrainingStepOp stepOf(mlir::ModuleOp module);
/// The ops of all regions of the step, in order; those of scalar bodies are not among them.
llvm::SmallVector<mlir::Operation *> opsOf(mlir::ModuleOp module);
} // namespace hocket::testing
