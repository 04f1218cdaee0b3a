// The order of the nn passes, with the reason for each.
#include "mlir/Pass/PassManager.h"
#include "passes/NN/Passes.h"
using namespace mlir;
using namespace hocket::nn;

void hocket::nn::buildNNPipeline(OpPassManager &manager, const BuildTrainingStepPassOptions &options) {
  // First: all that follows works on straight-line models. After it no call or repeat is left in a model, parameter
  // names are unique, and every op has its path.
  manager.addPass(createInlineBlocksPass());
  // Before anything is derived from the model, so that messages speak of what the user wrote. After it every parameter
  // that is not frozen has a path to the loss, and the recipe can be carried out.
  manager.addPass(createVerifyModelPass());
  // On the global graph, before any sharding: backward communication then follows from shardings. After it the training
  // step stands, with static shapes; the model itself is not touched.
  manager.addPass(createBuildTrainingStepPass(options));
  // After autodiff (the pieces have no derivatives), before sharding (the whole op cannot split the vocabulary).
  manager.addPass(createDecomposeLossPass());
}

namespace {
/// The options of nn-build-training-step, once more: a pipeline's options are declared apart from its passes'.
struct NNPipelineOptions : PassPipelineOptions<NNPipelineOptions> {
  Option<std::string> recipe{*this, "recipe", llvm::cl::desc("name of the recipe")};
  Option<std::string> plan{*this, "plan", llvm::cl::desc("name of the plan")};
  Option<int64_t> rows{*this, "rows", llvm::cl::desc("sequences of one microbatch"), llvm::cl::init(0)};
  Option<int64_t> microbatches{*this, "microbatches", llvm::cl::desc("microbatches of a step"), llvm::cl::init(1)};
};
} // namespace

void hocket::nn::registerNNPipeline() {
  static PassPipelineRegistration<NNPipelineOptions> registration(
      "nn-pipeline", "from a model of blocks to its training step over whole tensors",
      [](OpPassManager &manager, const NNPipelineOptions &given) {
        BuildTrainingStepPassOptions options;
        options.recipe = given.recipe;
        options.plan = given.plan;
        options.rows = given.rows;
        options.microbatches = given.microbatches;
        buildNNPipeline(manager, options);
      });
}
