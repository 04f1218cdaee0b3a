// The whole program file.
#include "passes/StepToProgram/StepToProgram.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/StepToProgram/EvaluationBodies.h"
#include "passes/StepToProgram/RankPrograms.h"
#include "runtime/Program/IssueOrder.h"
using namespace mlir;
using namespace hocket;
using namespace hocket::step;

/// The symbols that a job names.
namespace {
struct JobParts {
  JobOp job;
  nn::ModelOp model;
  nn::RecipeOp recipe;
  dist::PlanOp plan;
  dist::MeshOp mesh;
};
} // namespace

static std::optional<JobParts> findParts(ModuleOp module) {
  auto jobs = llvm::to_vector(module.getOps<JobOp>());
  if (jobs.size() != 1) {
    module.emitError() << "holds " << jobs.size() << " jobs; a program file is made of one";
    return std::nullopt;
  }
  SymbolTable symbols(module);
  JobParts parts{jobs[0],
                 symbols.lookup<nn::ModelOp>(jobs[0].getModel()),
                 symbols.lookup<nn::RecipeOp>(jobs[0].getRecipe()),
                 symbols.lookup<dist::PlanOp>(jobs[0].getPlan()),
                 {}};
  if (parts.plan)
    parts.mesh = symbols.lookup<dist::MeshOp>(parts.plan.getMesh());
  if (!parts.model || !parts.recipe || !parts.mesh) {
    parts.job.emitError() << "names a model, recipe, plan or mesh that the module does not hold";
    return std::nullopt;
  }
  return parts;
}

static std::string textOf(Operation *op) {
  std::string text;
  llvm::raw_string_ostream os(text);
  op->print(os, OpPrintingFlags().useLocalScope());
  return text;
}

static uint64_t countOf(Operation *kernel, StringRef name) {
  auto attr = kernel->getAttrOfType<IntegerAttr>(name);
  return attr ? attr.getInt() : 0;
}

static std::vector<std::unique_ptr<program::KernelT>> convertKernels(ModuleOp module,
                                                                     llvm::StringMap<uint32_t> &index) {
  std::vector<std::unique_ptr<program::KernelT>> kernels;
  for (auto func : module.getOps<func::FuncOp>()) {
    index[func.getName()] = kernels.size();
    kernels.push_back(std::make_unique<program::KernelT>());
    kernels.back()->symbol = func.getName().str();
    kernels.back()->tiles = std::max<uint64_t>(1, countOf(func, "hocket.tiles"));
    kernels.back()->flops = countOf(func, "hocket.flops");
    kernels.back()->bytes = countOf(func, "hocket.bytes");
  }
  return kernels;
}

static void convertHead(program::ProgramT &out, JobParts &parts, const ProgramTarget &target,
                        const Communicators &communicators) {
  out.name = parts.model.getSymName().str();
  out.plan = parts.plan.getSymName().str();
  out.recipe = textOf(parts.recipe);
  out.target = target.target;
  out.march = target.march;
  out.features = target.features;
  out.threads = target.threads;
  for (auto axis : parts.mesh.getAxes().getAsRange<dist::MeshAxisAttr>()) {
    out.axes.push_back(std::make_unique<program::AxisT>());
    out.axes.back()->name = axis.getName().str();
    out.axes.back()->size = axis.getSize();
  }
  if (auto batch = parts.plan.tactic<dist::BatchOp>(); batch && batch.getAxesAttr())
    out.dataAxes = communicators.convert(batch.getAxesAttr().getRefs());
  if (auto batch = parts.recipe.entry<nn::BatchOp>())
    out.globalBatch = batch.getSequences();
  if (auto seed = parts.recipe.entry<nn::SeedOp>())
    out.seed = seed.getSeed();
  out.microbatchRows = parts.job.getRows();
  out.microbatches = parts.job.getMicrobatches();
  out.sequence = parts.job.getSequence();
  out.vocabulary = parts.job.getVocabulary();
  out.parameters = parts.job.getParameters();
  auto stages = parts.plan.tactic<dist::StagesOp>();
  out.schedule = stages ? stages.getSchedule().str() : "1f1b";
}

/// Rows of a program for GPUs stand in the order in which they are issued.
static void orderRows(program::ProgramT &out) {
  flatbuffers::FlatBufferBuilder builder;
  builder.Finish(program::Program::Pack(builder, &out));
  const auto &program = *flatbuffers::GetRoot<program::Program>(builder.GetBufferPointer());
  for (size_t e = 0; e < out.ranks.front()->entries.size(); ++e) {
    const std::string &name = out.ranks.front()->entries[e]->name;
    auto orders = program::issueOrders(program, name);
    for (size_t stage = 0; orders && stage < orders->size(); ++stage)
      for (auto &entry : out.ranks[stage]->entries)
        if (entry->name == name) {
          std::vector<program::Row> rows;
          for (uint32_t row : (*orders)[stage])
            rows.push_back(entry->rows[row]);
          entry->rows = std::move(rows);
        }
  }
}

std::optional<program::ProgramT> hocket::step::buildProgram(ModuleOp module, const ProgramTarget &target) {
  std::optional<JobParts> parts = findParts(module);
  if (!parts)
    return std::nullopt;
  auto programs = llvm::to_vector(module.getOps<ProgramOp>());
  for (ProgramOp program : programs)
    if (!program.getArenaBytes()) {
      program.emitError() << "has no memory plan; run step-plan-memory first";
      return std::nullopt;
    }
  program::ProgramT out;
  out.stageAxis = -1;
  if (auto stages = parts->plan.tactic<dist::StagesOp>(); stages && programs.size() > 1)
    out.stageAxis = parts->mesh.getAxisIndex(stages.getAxes().getRefs()[0].name.getValue());
  Communicators communicators(programs, parts->mesh, out.stageAxis);
  convertHead(out, *parts, target, communicators);

  ProgramStrings strings;
  WrittenValues written(strings, communicators, module);
  SharedTables shared{strings, communicators, findStateHolders(programs), parts->model, written, {}, {}};
  shared.gpu = target.target == "cuda";
  out.kernels = convertKernels(module, shared.kernels);
  for (ProgramOp program : programs) {
    out.ranks.push_back(convertProgram(program, shared));
    if (!out.ranks.back())
      return std::nullopt;
    dropUnreadTransfers(*out.ranks.back());
  }
  for (program::RankScalarT &scalar : shared.scalars)
    out.scalars.push_back(std::make_unique<program::RankScalarT>(std::move(scalar)));
  out.shapes = written.take();
  out.communicators = communicators.take();
  out.strings = strings.take();
  if (shared.gpu)
    orderRows(out);
  return out;
}
