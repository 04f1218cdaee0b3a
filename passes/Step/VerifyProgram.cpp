// step-verify-program: the pass, and what is known about stages.
#include "passes/Step/VerifyProgram.h"
#include "passes/Step/Passes.h"
#include "passes/Step/SlotChains.h"
using namespace mlir;
using namespace hocket;
using namespace hocket::step;

namespace hocket::step {
#define GEN_PASS_DEF_VERIFYPROGRAMPASS
#include "passes/Step/Passes.h.inc"
} // namespace hocket::step

InFlightDiagnostic VerifyContext::fault(Operation *at) {
  sound = false;
  auto program = isa<ProgramOp>(at) ? cast<ProgramOp>(at) : at->getParentOfType<ProgramOp>();
  InFlightDiagnostic error = emitError(at->getLoc());
  if (!program)
    return error;
  error << "stage " << program.getStage();
  if (auto body = at->getParentOfType<BodyOp>()) {
    error << ", " << stringifyBodyKind(body.getKind());
    if (body.getChunk())
      error << " chunk " << body.getChunk();
  }
  error << ": ";
  return error;
}

BodyKind hocket::step::scheduledKind(BodyKind kind) {
  return kind == BodyKind::FinalBackward     ? BodyKind::Backward
         : kind == BodyKind::FinalWeightGrad ? BodyKind::WeightGrad
                                             : kind;
}

std::string hocket::step::sayWork(Operation *op) {
  StringRef path = nn::getPath(op);
  return path.empty() ? workText(op) : workText(op) + " of " + path.str();
}

SmallVector<Value> hocket::step::readsOf(Operation *op) {
  if (auto launch = dyn_cast<LaunchOp>(op))
    return llvm::to_vector(launch.getInputs());
  if (auto gemm = dyn_cast<GemmOp>(op)) {
    SmallVector<Value> reads{gemm.getA(), gemm.getB()};
    for (Value value : {gemm.getC(), gemm.getExtra()})
      if (value)
        reads.push_back(value);
    return reads;
  }
  if (auto collective = dyn_cast<CollectiveOp>(op))
    return {collective.getInput()};
  if (auto transfer = dyn_cast<TransferOp>(op))
    return {transfer.getInput()};
  return {};
}

SmallVector<Value> hocket::step::writesOf(Operation *op) {
  if (auto launch = dyn_cast<LaunchOp>(op))
    return llvm::to_vector(launch.getOuts());
  if (auto gemm = dyn_cast<GemmOp>(op))
    return llvm::to_vector(gemm.getOuts());
  if (auto collective = dyn_cast<CollectiveOp>(op))
    return llvm::to_vector(collective.getOuts());
  if (auto transfer = dyn_cast<TransferOp>(op))
    return llvm::to_vector(transfer.getOuts());
  return {};
}

// ---- stages --------------------------------------------------------------------------------------------------------
static bool collectStages(VerifyContext &context, ArrayRef<ProgramOp> found) {
  uint64_t stages = context.job.getStages();
  context.programs.assign(stages, ProgramOp());
  for (ProgramOp program : found) {
    if (program.getStage() >= stages) {
      context.fault(program) << "the job has stages 0 to " << stages - 1;
      continue;
    }
    ProgramOp &place = context.programs[program.getStage()];
    if (place)
      (context.fault(program) << "the same stage twice").attachNote(place.getLoc()) << "it stands here";
    place = program;
  }
  bool complete = true;
  for (auto [stage, program] : llvm::enumerate(context.programs)) {
    if (!program) {
      context.fault(context.job) << "stage " << stage << " of " << stages << " has no program";
      complete = false;
      continue;
    }
    if (!program.getArenaBytes()) {
      context.fault(program) << "has no memory plan; run step-plan-memory first";
      complete = false;
    }
    if (program.getMicrobatches() != context.job.getMicrobatches())
      context.fault(program) << "runs " << program.getMicrobatches() << " microbatches, the job has "
                             << context.job.getMicrobatches();
  }
  return complete;
}

/// The layers of a stage's forward bodies are those it says it computes.
static void verifyLayerOps(VerifyContext &context, ProgramOp program) {
  llvm::StringSet<> said, seen;
  for (StringRef part : program.getParts().getAsValueRange<StringAttr>())
    if (StringRef layer = layerOf(part); !layer.empty())
      said.insert(layer);
  for (auto body : program.ops<BodyOp>())
    if (body.getKind() == BodyKind::Forward)
      for (Operation &op : body.getBody().front()) {
        StringRef layer = layerOf(nn::getPath(&op));
        if (!layer.empty() && seen.insert(layer).second && !said.contains(layer))
          context.fault(&op) << sayWork(&op) << " is of layer " << layer << ", the stage computes "
                             << partsText(program.getParts());
      }
  for (StringRef part : program.getParts().getAsValueRange<StringAttr>())
    if (StringRef layer = layerOf(part); !layer.empty() && !seen.contains(layer))
      context.fault(program) << "says it computes layer " << layer << ", no op of its forward is of it";
}

/// The stages' programs as the activations go through them; of several chunks a stage in the order of stages.
static SmallVector<ProgramOp> inModelOrder(const VerifyContext &context, bool chunks) {
  SmallVector<ProgramOp> programs(context.programs);
  if (!chunks)
    for (auto [k, place] : llvm::enumerate(placementOf(context.programs, 1)))
      programs[k] = context.programs[place.stage];
  return programs;
}

static void verifyLayers(VerifyContext &context) {
  llvm::StringMap<SmallVector<unsigned>> holders;
  SmallVector<StringRef> flat;
  bool chunks = llvm::any_of(context.programs[0].ops<BodyOp>(), [](BodyOp body) { return body.getChunk() > 0; });
  for (ProgramOp program : inModelOrder(context, chunks))
    for (StringRef part : program.getParts().getAsValueRange<StringAttr>())
      if (StringRef layer = layerOf(part); !layer.empty()) {
        holders[layer].push_back(program.getStage());
        flat.push_back(layer);
      }
  SmallVector<StringRef> layers(context.job.getLayers().getAsValueRange<StringAttr>());
  bool conserved = true;
  for (StringRef layer : layers) {
    ArrayRef<unsigned> on = holders[layer];
    conserved &= on.size() == 1;
    if (on.empty())
      context.fault(context.job) << "layer " << layer << " is on no stage";
    if (on.size() > 1) {
      auto error = context.fault(context.job) << "layer " << layer << " is on " << on.size() << " stages";
      for (unsigned stage : on)
        error.attachNote(context.programs[stage].getLoc()) << "on stage " << stage;
    }
  }
  for (StringRef layer : flat)
    if (!llvm::is_contained(layers, layer)) {
      conserved = false;
      context.fault(context.programs[holders[layer].front()])
          << "computes layer " << layer << ", which the job does not have";
    }
  for (auto [i, layer] : llvm::enumerate(flat))
    if (conserved && !chunks && layers[i] != layer) {
      context.fault(context.programs[holders[layer].front()])
          << "computes layer " << layer << " where " << layers[i]
          << " is next; stages hold layers in the order of the model";
      break;
    }
}

bool hocket::step::verifyStages(VerifyContext &context) {
  verifyLayers(context);
  for (ProgramOp program : context.programs)
    verifyLayerOps(context, program);
  return context.sound;
}

// ---- pass ----------------------------------------------------------------------------------------------------------
namespace {
struct VerifyProgramPass : hocket::step::impl::VerifyProgramPassBase<VerifyProgramPass> {
  using VerifyProgramPassBase::VerifyProgramPassBase;

  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    schedule::Faults faults;
    auto sends = schedule::parseSemantics(semantics, faults);
    for (const schedule::Fault &fault : faults)
      getOperation().emitError() << fault.text;
    if (!sends)
      return signalPassFailure();
    for (auto job : getOperation().getOps<JobOp>())
      if (!verify(job, symbols, *sends))
        signalPassFailure();
  }

  bool verify(JobOp job, SymbolTable &symbols, schedule::Semantics sends) {
    VerifyContext context{job, {}, {}, {}, symbols, sends};
    auto plan = symbols.lookup<dist::PlanOp>(job.getPlan());
    context.mesh = plan ? symbols.lookup<dist::MeshOp>(plan.getMesh()) : dist::MeshOp();
    if (!context.mesh)
      return job.emitError() << "is under a plan or mesh that the module does not hold", false;
    if (auto stages = plan.tactic<dist::StagesOp>(); stages && job.getStages() > 1)
      context.stageAxis = stages.getAxes().getRefs().front().name;
    SmallVector<ProgramOp> found;
    for (auto program : getOperation().getOps<ProgramOp>())
      if (program.getPlan() == job.getPlan())
        found.push_back(program);
    if (!collectStages(context, found))
      return false;
    verifyStages(context);
    verifyWork(context);
    verifyTransfers(context);
    verifyLayout(context);
    if (!tablesTold)
      verifyContents(context); // along tables' lives of microbatches
    verifyStreams(context);
    verifyMessages(context);
    if (!tablesTold)
      verifySchedules(context);
    verifyCollectives(context);
    verifyResident(context);
    markAllAnalysesPreserved();
    return context.sound;
  }
};
} // namespace
