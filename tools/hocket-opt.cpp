// Runs passes over IR, for tests and for people who look closely: mlir-opt with Hocket's dialects and passes.
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"
#include "passes/Codegen/CPU/Kernels.h"
#include "passes/Codegen/CUDA/Kernels.h"
#include "passes/Codegen/Fusion/Passes.h"
#include "passes/Dist/Judge/Passes.h"
#include "passes/Dist/Passes.h"
#include "passes/DistToStep/Passes.h"
#include "passes/NN/Passes.h"
#include "passes/Step/Passes.h"
#include "tools/Dialects.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  hocket::registerDialects(registry);
  mlir::registerCanonicalizerPass();
  mlir::registerCSEPass();
  hocket::nn::registerNNPasses();
  hocket::nn::registerNNPipeline();
  hocket::dist::registerDistPasses();
  hocket::dist::registerPartitionJudgePasses();
  hocket::step::registerDistToStepPasses();
  hocket::step::registerStepPasses();
  hocket::codegen::registerCodegenFusionPasses();
  hocket::cpu::registerCodegenCPUPasses();
  hocket::cuda::registerCodegenCUDAPasses();
  return mlir::asMainReturnCode(mlir::MlirOptMain(argc, argv, "Hocket's optimizer driver\n", registry));
}
