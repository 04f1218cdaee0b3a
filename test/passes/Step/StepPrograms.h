// A model's text under a plan, lowered to step programs with planned and proved memory.
#pragma once
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Pass/PassInstrumentation.h"

namespace hocket::test {

struct StepPrograms {
  /// `watch`, where given, sees every pass.
  StepPrograms(const std::string &text, const std::string &plan, int64_t rows, int64_t microbatches,
               std::unique_ptr<mlir::PassInstrumentation> watch = nullptr);

  mlir::MLIRContext context{mlir::MLIRContext::Threading::DISABLED};
  mlir::OwningOpRef<mlir::ModuleOp> module; ///< null where the text does not parse or a pass fails
  std::string faults;                       ///< a line each
};
} // namespace hocket::test
