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
#include "llvm/Support/CommandLine.h"

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
  // As MlirOptMain does, but for the exit status of a command line that cannot be read.
  llvm::cl::opt<std::string> input(llvm::cl::Positional, llvm::cl::desc("<input file>"), llvm::cl::init("-"));
  llvm::cl::opt<std::string> output("o", llvm::cl::desc("Output filename"), llvm::cl::value_desc("filename"),
                                    llvm::cl::init("-"));
  std::string help = mlir::registerCLIOptions("Hocket's optimizer driver\n", registry);
  std::string faults;
  llvm::raw_string_ostream stream(faults);
  if (!llvm::cl::ParseCommandLineOptions(argc, argv, help, &stream)) {
    llvm::errs() << (faults.empty() ? "" : "error: ") << faults; // it prints those about values itself
    return 2;
  }
  return mlir::asMainReturnCode(mlir::MlirOptMain(argc, argv, input, output, registry));
}
