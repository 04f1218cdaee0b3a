// See StepPrograms.h.
#include "test/passes/Step/StepPrograms.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "passes/Codegen/Fusion/Passes.h"
#include "passes/Dist/Passes.h"
#include "passes/DistToStep/Passes.h"
#include "passes/NN/Passes.h"
#include "passes/Step/Passes.h"
using namespace mlir;

namespace hocket::test {

StepPrograms::StepPrograms(const std::string &text, const std::string &plan, int64_t rows, int64_t microbatches,
                           std::unique_ptr<PassInstrumentation> watch) {
  context.loadDialect<nn::NNDialect, dist::DistDialect, step::StepDialect, arith::ArithDialect, math::MathDialect,
                      func::FuncDialect>();
  context.getDiagEngine().registerHandler([&](Diagnostic &diagnostic) { faults += diagnostic.str() + "\n"; });
  module = parseSourceString<ModuleOp>(text, ParserConfig(&context));
  nn::BuildTrainingStepPassOptions options;
  options.plan = plan;
  options.rows = rows;
  options.microbatches = microbatches;
  PassManager manager(&context);
  if (watch)
    manager.addInstrumentation(std::move(watch));
  nn::buildNNPipeline(manager, options);
  dist::buildDistPipeline(manager);
  manager.addPass(step::createDistToStepPass());
  manager.addPass(step::createOffloadPass());
  manager.addPass(codegen::createCodegenFusePass());
  manager.addPass(step::createOverlapPass());
  manager.addPass(step::createPlanMemoryPass());
  manager.addPass(step::createVerifyProgramPass());
  if (!module || failed(manager.run(*module)))
    module = nullptr;
}
} // namespace hocket::test
