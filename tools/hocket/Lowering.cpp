// See Lowering.h.
#include "tools/hocket/Lowering.h"
#include "mlir/Pass/PassManager.h"
#include "passes/Codegen/Fusion/Passes.h"
#include "passes/Dist/Passes.h"
#include "passes/DistToStep/Passes.h"
#include "passes/DistToStep/ScheduleTables.h"
#include "passes/DistToStep/StagePlacement.h"
#include "passes/NN/Passes.h"
#include "passes/Schedule/Solvers.h"
#include "passes/Step/Passes.h"
#include "tools/hocket/ChooseWithin.h"
#include "tools/hocket/ExplicitPlan.h"
using namespace mlir;
using namespace hocket;
using namespace hocket::tools;

/// A copy of the module with one plan and its mesh, so that passes work on nothing else.
static OwningOpRef<ModuleOp> copyFor(Session &session, PlanChoice choice) {
  OwningOpRef<ModuleOp> copy(session.module().clone());
  for (Operation &op : llvm::make_early_inc_range(*copy->getBody()))
    if (auto plan = dyn_cast<dist::PlanOp>(op); plan && plan.getSymName() != choice.plan.getSymName())
      op.erase();
    else if (auto mesh = dyn_cast<dist::MeshOp>(op); mesh && mesh.getSymName() != choice.mesh.getSymName())
      op.erase();
  return copy;
}

static void addNN(PassManager &manager, PlanChoice choice, const analysis::BatchShape &shape) {
  nn::BuildTrainingStepPassOptions options;
  options.recipe = choice.recipe.getSymName().str();
  options.plan = choice.plan.getSymName().str();
  options.rows = shape.rows();
  options.microbatches = shape.microbatches;
  nn::buildNNPipeline(manager, options);
}

/// For readers: what shardings speak of comes first, and blocks go once they are inlined.
static void tidy(ModuleOp module) {
  for (Operation &op : llvm::make_early_inc_range(*module.getBody()))
    if (isa<nn::BlockOp>(op))
      op.erase();
  Block *body = module.getBody();
  Operation *next = body->empty() ? nullptr : &body->front();
  for (Operation &op : llvm::make_early_inc_range(*body))
    if (isa<dist::MeshOp, dist::PlanOp>(op)) {
      if (&op == next)
        next = op.getNextNode();
      else
        op.moveBefore(next);
    }
}

template <typename PassOptions> static PassOptions semanticsOf(const PlanChoice &choice) {
  PassOptions options;
  if (!choice.semantics.empty())
    options.semantics = choice.semantics;
  return options;
}

/// From the model as far as `until`, at most to programs of stages.
static void addStages(PassManager &manager, const PlanChoice &choice, const analysis::BatchShape &shape,
                      Layer until = Layer::Step) {
  addNN(manager, choice, shape);
  if (until >= Layer::Sharded)
    dist::buildDistPipeline(
        manager, {.stopAfterShardings = until == Layer::Sharded, .maxImplicitBytes = choice.maxImplicitBytes});
  // The one border between where and when. After it, one program a stage; its schedule is solved and judged.
  if (until >= Layer::Step)
    manager.addPass(step::createDistToStepPass(semanticsOf<step::DistToStepPassOptions>(choice)));
}

/// From programs of stages to programs that are planned and proved. `tablesTold`: a fault of their tables is told.
static void addKernels(PassManager &manager, const PlanChoice &choice, bool tablesTold = false) {
  // Before memory is planned, so that what lives inside a kernel needs none. After it bodies hold launches and
  // products.
  manager.addPass(codegen::createCodegenFusePass({.epilogues = choice.forGpu && choice.epilogues}));
  if (choice.forGpu) // before memory is planned: what a launch may do in place is known once it is whole
    manager.addPass(codegen::createCodegenGroupLaunchesPass());
  // On what fusion leaves: which work a collective can run beside. After it streamed ops are awaited.
  manager.addPass(step::createOverlapPass());
  // Every buffer has its place after it, and the size of the arena is known.
  manager.addPass(step::createPlanMemoryPass());
  // Last: messages match, nothing can deadlock, no buffer is written while it is still read.
  auto judged = semanticsOf<step::VerifyProgramPassOptions>(choice);
  judged.tablesTold = tablesTold;
  manager.addPass(step::createVerifyProgramPass(judged));
}

static bool runPasses(Session &session, PassManager &manager, ModuleOp module) {
  manager.enableVerifier(true);
  (void)applyPassManagerCLOptions(manager);
  applyDefaultTimingPassManagerCLOptions(manager);
  if (succeeded(manager.run(module)))
    return true;
  if (!session.errors())
    session.error("a pass failed without saying why; this is a fault of the compiler");
  return false;
}

OwningOpRef<ModuleOp> hocket::tools::lower(Session &session, const PlanChoice &choice,
                                           const analysis::BatchShape &shape, Layer until) {
  OwningOpRef<ModuleOp> module = copyFor(session, choice);
  PassManager manager(&session.context());
  addStages(manager, choice, shape, until);
  // Once it is known what lasts and what is kept: from here on the host's memory is a space like others.
  if (until >= Layer::Step)
    manager.addPass(step::createOffloadPass());
  if (until >= Layer::Kernels)
    addKernels(manager, choice);
  if (!runPasses(session, manager, *module))
    return nullptr;
  tidy(*module);
  return module;
}

/// As lower(…, Kernels), but faults of order in the schedule end nothing: memory, programs and collectives are planned
/// and judged all the same. Null where there is no planned program to show.
static OwningOpRef<ModuleOp> lowerPastFaults(Session &session, const PlanChoice &choice,
                                             const analysis::BatchShape &shape) {
  OwningOpRef<ModuleOp> module = copyFor(session, choice);
  PassManager upToStages(&session.context());
  addStages(upToStages, choice, shape);
  bool sound = runPasses(session, upToStages, *module);
  auto programs = module->getOps<step::ProgramOp>();
  if (programs.empty() || !module->getOps<nn::TrainingStepOp>().empty())
    return nullptr; // not all of the step is cut into stages
  PassManager rest(&session.context());
  rest.addPass(step::createOffloadPass());
  addKernels(rest, choice, /*tablesTold=*/!sound);
  (void)runPasses(session, rest, *module);
  bool planned = llvm::all_of(programs, [](step::ProgramOp program) { return program.getArenaBytes().has_value(); });
  return planned ? std::move(module) : nullptr;
}

/// A training step with the shape of the plan, or, where the batch does not fit it, with one microbatch.
static OwningOpRef<ModuleOp> globalStep(Session &session, PlanChoice choice,
                                        std::optional<analysis::BatchShape> shape) {
  OwningOpRef<ModuleOp> module = copyFor(session, choice);
  if (!shape) {
    shape = analysis::microbatchShape(choice.plan, choice.mesh);
    for (auto recipe : module->getOps<nn::RecipeOp>())
      if (auto batch = recipe.entry<nn::BatchOp>())
        batch.setSequences(shape->rows());
  }
  PassManager manager(&session.context());
  addNN(manager, choice, *shape);
  return runPasses(session, manager, *module) ? std::move(module) : nullptr;
}

/// Everything but the batch, which `shape` is the outcome of. The planned program, if there is one.
static OwningOpRef<ModuleOp> checkLayers(Session &session, PlanChoice choice,
                                         std::optional<analysis::BatchShape> shape) {
  OwningOpRef<ModuleOp> global = globalStep(session, choice, shape);
  if (!global)
    return nullptr;
  bool stagesFit = true;
  if (auto stages = choice.plan.tactic<dist::StagesOp>()) {
    auto step = *global->getOps<nn::TrainingStepOp>().begin();
    unsigned count = dist::axesSize(choice.mesh, stages.getAxes().getRefs());
    // A table says for how many microbatches it is: where the batch does not fit, that is the fault to tell.
    auto schedule = !shape && stages.getTable()
                        ? std::nullopt
                        : step::describeSchedule(stages, count, shape ? shape->microbatches : 1, stages.getLoc());
    stagesFit = schedule && succeeded(step::placeStages(step, schedule->problem, stages.getLoc(), stages));
  }
  if (!shape) { // shardings do not depend on the number of rows being right
    PassManager manager(&session.context());
    dist::buildDistPipeline(manager, {.stopAfterShardings = true});
    (void)runPasses(session, manager, *global);
    return nullptr;
  }
  if (stagesFit)
    return lowerPastFaults(session, choice, *shape);
  (void)lower(session, choice, *shape, Layer::Local);
  return nullptr;
}

bool hocket::tools::dropFaultyTactics(Session &session) {
  llvm::DenseSet<Location> faulty;
  for (const Session::Fault &fault : session.faults())
    if (fault.loc)
      faulty.insert(*fault.loc);
  size_t dropped = 0;
  for (auto plan : session.module().getOps<dist::PlanOp>())
    for (Operation &tactic : llvm::make_early_inc_range(plan.getBody().front()))
      if (faulty.contains(tactic.getLoc())) {
        ++dropped;
        tactic.erase();
      }
  return dropped == faulty.size() && llvm::all_of(session.faults(), [](auto &fault) { return fault.loc.has_value(); });
}

void hocket::tools::checkScheduleNames(Session &session) {
  session.module().walk([](dist::StagesOp stages) {
    schedule::Faults faults;
    if (stages.getSchedule() == "file" || schedule::findSolver(stages.getSchedule().str(), faults))
      return;
    for (const schedule::Fault &fault : faults)
      stages.emitError() << fault.text;
    stages.setSchedule("1f1b");
  });
}

bool hocket::tools::checkPlan(Session &session, const PlanChoice &given, bool complete, ProgramWatcher seen) {
  PlanChoice choice = given;
  unsigned before = session.errors();
  if (complete)
    (void)analysis::usesAllRanks(choice.plan, choice.mesh);
  auto module = checkLayers(session, choice, analysis::batchShape(choice.recipe, choice.plan, choice.mesh));
  if (seen)
    seen(choice, module ? *module : ModuleOp());
  return session.errors() == before;
}

/// Under a limit `recompute auto` stands for other tactics. False, after errors, if it cannot.
static bool decideAuto(Session &session, const PlanChoice &choice, std::optional<uint64_t> limitBytes) {
  auto shape = limitBytes ? analysis::batchShape(choice.recipe, choice.plan, choice.mesh) : std::nullopt;
  if (!shape)
    return true; // told by checkPlan
  Job job{choice, *shape};
  return chooseWithin(session, job, limitBytes, /*judges=*/true);
}

std::vector<PlanChoice> hocket::tools::checkFile(Session &session, const PlanFlags &flags, ProgramWatcher seen) {
  std::vector<PlanChoice> choices;
  bool sound = session.verify();
  if (!sound)
    checkScheduleNames(session); // before faulty tactics are gone
  if (sound || dropFaultyTactics(session))
    choices = choosePlans(session, flags, /*all=*/true);
  checkScheduleNames(session); // of a plan made from flags too
  if (!flags.mesh.empty() && sound)
    sound = session.verify();
  for (const PlanChoice &choice : choices)
    if (decideAuto(session, choice, flags.memory))
      checkPlan(session, choice, /*complete=*/sound, seen);
  return choices;
}

std::optional<Job> hocket::tools::openJob(Session &session, const ModelFile &model, const PlanFlags &flags) {
  if (!loadModel(session, model) || !session.verify())
    return std::nullopt;
  auto choices = choosePlans(session, flags, /*all=*/false);
  checkScheduleNames(session);
  if (session.errors())
    return std::nullopt;
  if (choices.empty() || (!flags.mesh.empty() && !session.verify()))
    return std::nullopt;
  PlanChoice &choice = choices[0];
  auto shape = analysis::batchShape(choice.recipe, choice.plan, choice.mesh);
  bool spread = analysis::usesAllRanks(choice.plan, choice.mesh);
  if (!shape)
    (void)checkLayers(session, choice, shape);
  if (!shape || !spread)
    return std::nullopt;
  Job job{choice, *shape};
  writeAutoTactics(session, job);
  if (!flags.mesh.empty() && !session.errors()) {
    findMegatronTactics(session, job);
    printFoundTactics(job);
  }
  return session.errors() ? std::nullopt : std::optional(job);
}
