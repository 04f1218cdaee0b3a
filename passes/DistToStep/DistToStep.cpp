// dist-to-step: one partitioned training step becomes one program a stage.
#include "passes/DistToStep/Coalesce.h"
#include "passes/DistToStep/Passes.h"
#include "passes/DistToStep/ScheduleTables.h"
#include "passes/DistToStep/StageProgram.h"
#include "passes/DistToStep/ValueNames.h"
#include "llvm/Support/FormatVariadic.h"
using namespace mlir;
using namespace hocket;
using namespace hocket::step;

namespace hocket::step {
#define GEN_PASS_DEF_DISTTOSTEPPASS
#include "passes/DistToStep/Passes.h.inc"
} // namespace hocket::step

namespace {
/// The tables of both entries for all stages.
struct Schedules {
  SolvedSchedule train, eval;
  bool sound() const { return train.sound && eval.sound; }
};

int64_t globalRows(nn::SlotOp slot, int64_t dim) {
  if (auto shard = dyn_cast_or_null<dist::ShardAttr>(slot.getShardingAttr()))
    return shard.getGlobal().getDimSize(dim);
  return cast<RankedTensorType>(slot.getType()).getDimSize(dim);
}

/// Rows of one microbatch on one rank, and the length of a whole sequence.
std::pair<int64_t, int64_t> localBatch(nn::TrainingStepOp step) {
  for (Operation &op : step.getMicrobatch().front())
    if (auto read = dyn_cast<nn::ReadOp>(op);
        read && read.getKind() == nn::SlotKind::Input && read.getValue().getType().getRank() == 2)
      return {read.getValue().getType().getDimSize(0), globalRows(step.findSlot(read.getKind(), read.getName()), 1)};
  return {0, 0};
}

/// What an operand of a lookup is read from, through casts, slices and gathers.
nn::ReadOp readBehind(Value value) {
  Operation *from = value.getDefiningOp();
  while (from && !isa<nn::ReadOp>(from) && from->getNumOperands() == 1)
    from = from->getOperand(0).getDefiningOp();
  return dyn_cast_or_null<nn::ReadOp>(from);
}

/// Rows of the greatest table that tokens look up.
int64_t vocabulary(nn::TrainingStepOp step) {
  int64_t size = 0;
  step.getMicrobatch().walk([&](nn::EmbeddingOp embedding) {
    nn::ReadOp ids = readBehind(embedding.getIds()), table = readBehind(embedding.getTable());
    if (ids && ids.getKind() == nn::SlotKind::Input && table)
      size = std::max(size, globalRows(step.findSlot(table.getKind(), table.getName()), 0));
  });
  return size;
}

int64_t countParameters(nn::TrainingStepOp step) {
  int64_t count = 0;
  for (Operation &op : step.getSlots().front())
    if (auto slot = cast<nn::SlotOp>(op); slot.getKind() == nn::SlotKind::Param) {
      int64_t elements = 1;
      for (int64_t d = 0; d < cast<RankedTensorType>(slot.getType()).getRank(); ++d)
        elements *= globalRows(slot, d);
      count += elements;
    }
  return count;
}

/// Where the number of microbatches comes from.
std::optional<std::pair<Location, std::string>> sayBatch(nn::TrainingStepOp step, dist::PlanOp plan,
                                                         SymbolTable &symbols) {
  auto recipe = symbols.lookup<nn::RecipeOp>(step.getRecipeAttr().getAttr());
  auto batch = plan.tactic<dist::BatchOp>();
  auto whole = recipe ? recipe.entry<nn::BatchOp>() : nn::BatchOp();
  if (!whole || !batch || !step.getMicrobatches())
    return std::nullopt;
  uint64_t all = whole.getSequences(), microbatch = batch.getMicrobatch(), count = step.getMicrobatches();
  return std::pair(batch.getLoc(), llvm::formatv("{0} microbatches = batch of {1} sequences / (microbatch of {2} * {3} "
                                                 "data-parallel ranks)",
                                                 count, all, microbatch, all / (count * microbatch))
                                       .str());
}

ArrayAttr layersOf(Builder &builder, const StagePlacement &placement) {
  SmallVector<StringRef> layers(placement.layers.begin(), placement.layers.end());
  return builder.getStrArrayAttr(layers);
}

struct DistToStepPass : hocket::step::impl::DistToStepPassBase<DistToStepPass> {
  using DistToStepPassBase::DistToStepPassBase;

  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    for (auto trainingStep : llvm::make_early_inc_range(getOperation().getOps<nn::TrainingStepOp>()))
      if (failed(lower(trainingStep, symbols)))
        return signalPassFailure();
  }

  LogicalResult lower(nn::TrainingStepOp step, SymbolTable &symbols) {
    auto plan = step.getPlanAttr() ? symbols.lookup<dist::PlanOp>(step.getPlanAttr().getAttr()) : dist::PlanOp();
    if (!plan)
      return step.emitError() << "is under no plan; stages and schedule come from one";
    auto mesh = symbols.lookup<dist::MeshOp>(plan.getMesh());
    auto stagesTactic = plan.tactic<dist::StagesOp>();
    auto axes = stagesTactic ? stagesTactic.getAxes() : dist::AxesAttr::get(&getContext(), {});
    unsigned stages = stagesTactic ? dist::axesSize(mesh, axes.getRefs()) : 1;
    Location stagesLoc = stagesTactic ? stagesTactic.getLoc() : plan.getLoc();
    auto schedule = describeSchedule(stagesTactic, stages, step.getMicrobatches(), stagesLoc);
    if (!schedule)
      return failure();
    schedule::Faults faults;
    if (auto asked = schedule::parseSemantics(semantics, faults))
      schedule->asked = *asked;
    for (const schedule::Fault &fault : faults)
      return emitError(getOperation().getLoc(), fault.text);
    FailureOr<StagePlacement> placement = placeStages(step, schedule->problem, stagesLoc, stagesTactic);
    if (failed(placement))
      return failure();
    auto crossings = findCrossings(step, *placement);
    Schedules schedules{
        solveSchedule(*schedule, /*evaluate=*/false, *placement, stagesLoc, sayBatch(step, plan, symbols)),
        solveSchedule(*schedule, /*evaluate=*/true, *placement, stagesLoc)};
    if (failed(crossings) || !schedules.train.tables || !schedules.eval.tables)
      return failure();

    OpBuilder builder(step);
    auto names = nameValues(step.getMicrobatch().front());
    auto [rows, sequence] = localBatch(step);
    auto i64 = [&](int64_t value) { return builder.getI64IntegerAttr(value); };
    JobOp::create(builder, step.getLoc(), builder.getStringAttr(step.getSymName() + "_job"), step.getModelAttr(),
                  step.getRecipeAttr(), step.getPlanAttr(), i64(rows), step.getMicrobatchesAttr(), i64(sequence),
                  i64(vocabulary(step)), i64(countParameters(step)), i64(stages), layersOf(builder, *placement));
    for (unsigned stage = 0; stage < stages; ++stage) {
      StageProgram program(builder, step, *placement, stage, schedule->problem.splitWeightGrad, mesh, axes, *crossings,
                           names);
      if (failed(program.build()))
        return failure();
      bool early = llvm::any_of(plan.getBody().front().getOps<dist::OverlapOp>(),
                                [](dist::OverlapOp tactic) { return tactic.getWhat() == dist::Overlap::Gradients; });
      LastAdders adders(program.getProgram(), axes);
      if (auto zero = plan.tactic<dist::ZeroOp>())
        coalesceCollectives(program.getProgram(), mesh, zero.getAxes().getRefs(), zero.getBucketBytes(),
                            early ? &adders : nullptr);
      if (early)
        reduceInFinalBodies(program.getProgram(), axes);
      addSchedules(program, schedules);
    }
    step.erase();
    return success(schedules.sound());
  }

  void addSchedules(StageProgram &program, const Schedules &schedules) {
    OpBuilder builder = OpBuilder::atBlockEnd(&program.getProgram().getBody().front());
    Location loc = program.getProgram().getLoc();
    ScheduleOp::create(builder, loc, "train",
                       makeTable(&getContext(), *schedules.train.tables, program.getProgram(), false));
    ScheduleOp::create(builder, loc, "eval",
                       makeTable(&getContext(), *schedules.eval.tables, program.getProgram(), true));
  }
};
} // namespace
