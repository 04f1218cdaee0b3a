// Runs the real passes, and keeps the name of the one that refuses.
#include "test/property/Compilation.h"
#include "mlir/Pass/PassInstrumentation.h"
#include "passes/Codegen/Fusion/Passes.h"
#include "passes/Dist/Passes.h"
#include "passes/DistToStep/Passes.h"
#include "passes/NN/Passes.h"
#include "passes/Step/Passes.h"
using namespace mlir;

namespace hocket::property {
namespace {
struct FailedPass : PassInstrumentation {
  explicit FailedPass(std::string &name) : name(name) {}
  void runAfterPassFailed(Pass *pass, Operation *) override {
    if (name.empty())
      name = pass->getArgument().str();
  }
  std::string &name;
};
} // namespace

Compilation::Compilation(const std::string &text, int64_t wholeBelow, RunResult &result)
    : wholeBelow(wholeBelow), result(result) {
  sound = session.loadText(text, "draw.mlir") || refuse("the parser");
  sound = sound && (session.verify() || refuse("the verifier"));
  sound = sound && choose();
}
Compilation::~Compilation() {
  for (const tools::Session::Fault &fault : session.faults())
    result.sentences.push_back(fault.text);
}

bool Compilation::choose() {
  tools::PlanFlags flags;
  flags.plan = "plan";
  auto choices = tools::choosePlans(session, flags, /*all=*/false);
  if (choices.empty() || session.errors())
    return refuse("the plan");
  choice = choices[0];
  auto found = analysis::batchShape(choice.recipe, choice.plan, choice.mesh);
  bool spread = analysis::usesAllRanks(choice.plan, choice.mesh);
  if (!found || !spread)
    return refuse("the plan");
  shape = *found;
  return true;
}

OwningOpRef<ModuleOp> Compilation::whole() {
  return lower(shape.rows() * shape.microbatches, 1, [](OpPassManager &) {});
}

OwningOpRef<ModuleOp> Compilation::local() {
  return lower(shape.rows(), shape.microbatches, [&](OpPassManager &manager) {
    dist::buildDistPipeline(manager, {/*stopAfterShardings=*/false, wholeBelow});
  });
}

bool Compilation::toStep(ModuleOp module) {
  PassManager manager(&session.context());
  manager.addPass(step::createDistToStepPass());
  manager.addPass(step::createOffloadPass());
  manager.addPass(codegen::createCodegenFusePass());
  manager.addPass(step::createPlanMemoryPass());
  manager.addPass(step::createVerifyProgramPass());
  return run(manager, module);
}

OwningOpRef<ModuleOp> Compilation::lower(int64_t rows, int64_t microbatches, function_ref<void(OpPassManager &)> more) {
  OwningOpRef<ModuleOp> module(session.module().clone());
  for (auto plan : llvm::make_early_inc_range(module->getOps<dist::PlanOp>()))
    if (plan.getSymName() != choice.plan.getSymName())
      plan.erase();
  PassManager manager(&session.context());
  nn::BuildTrainingStepPassOptions options;
  options.recipe = choice.recipe.getSymName().str();
  options.plan = choice.plan.getSymName().str();
  options.rows = rows;
  options.microbatches = microbatches;
  nn::buildNNPipeline(manager, options);
  more(manager);
  return run(manager, *module) ? std::move(module) : nullptr;
}

bool Compilation::run(PassManager &manager, ModuleOp module) {
  manager.addInstrumentation(std::make_unique<FailedPass>(result.refusedBy));
  manager.enableVerifier(true);
  if (succeeded(manager.run(module)))
    return true;
  if (result.refusedBy.empty())
    result.refusedBy = "a verifier between passes";
  return false;
}
} // namespace hocket::property
