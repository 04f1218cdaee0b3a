// The splits that forms stand for, found as dist-apply-plan finds them.
#include "tools/hocket/ExplicitPlan.h"
#include "passes/Dist/SlotShardings.h"
#include "passes/Dist/StepGraph.h"
#include "tools/hocket/Session.h"
#include "llvm/ADT/StringExtras.h"
#include <fmt/format.h>
using namespace mlir;
using namespace hocket;
using namespace hocket::tools;

/// As it stands in a plan: `batch over "dp" microbatch 2 sequences`.
static std::string printed(Operation &tactic) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  tactic.print(stream, OpPrintingFlags().useLocalScope());
  StringRef bare = text;
  bare.consume_front("dist.");
  return bare.str();
}

void hocket::tools::writeAutoTactics(Session &session, Job &job) {
  Block &body = job.choice.plan.getBody().front();
  SmallVector<std::pair<Location, std::string>> autos;
  for (auto split : body.getOps<dist::SplitOp>())
    if (split.getForm() == StringRef("auto"))
      autos.push_back({split.getLoc(), dist::tacticText(split)});
  if (autos.empty())
    return;
  auto module = lower(session, job.choice, job.shape, Layer::Sharded);
  if (!module)
    return;
  auto plan = SymbolTable(*module).lookup<dist::PlanOp>(job.choice.plan.getSymName());
  for (auto &[loc, form] : autos) {
    job.found.push_back({form, {}});
    for (auto split : plan.getBody().front().getOps<dist::SplitOp>())
      if (split.getLoc() == loc)
        job.found.back().tactics.push_back(printed(*split));
  }
  body.clear();
  OpBuilder builder = OpBuilder::atBlockEnd(&body);
  for (Operation &tactic : plan.getBody().front())
    builder.clone(tactic);
}

void hocket::tools::findMegatronTactics(Session &session, Job &job) {
  dist::PlanOp chosen = job.choice.plan;
  auto tactics = llvm::to_vector(chosen.getBody().front().getOps<dist::SplitOp>());
  if (llvm::none_of(tactics, [](dist::SplitOp tactic) { return bool(tactic.getForm()); }))
    return;
  auto module = lower(session, job.choice, job.shape, Layer::NN);
  if (!module)
    return;
  // What is wrong with a split is told when it is applied.
  ScopedDiagnosticHandler silent(&session.context(), [](Diagnostic &) { return success(); });
  nn::TrainingStepOp step = *module->getOps<nn::TrainingStepOp>().begin();
  SymbolTable symbols(*module);
  auto plan = symbols.lookup<dist::PlanOp>(chosen.getSymName());
  auto graph = dist::StepGraph::create(step);
  if (!plan || failed(graph))
    return;
  dist::DimensionClasses classes(*graph);
  dist::SlotShardings shardings(step, plan, symbols.lookup<dist::MeshOp>(plan.getMesh()));
  for (Operation &each : plan.getBody().front()) {
    if (auto experts = dyn_cast<dist::ExpertsOp>(each))
      shardings.splitExperts(experts, classes);
    auto tactic = dyn_cast<dist::SplitOp>(each);
    if (!tactic)
      continue;
    size_t known = shardings.explicitSplits().size();
    if (!shardings.splitParameters(tactic, classes) || !tactic.getForm())
      continue;
    auto texts = dist::explicitTactics(shardings.explicitSplits().drop_front(known));
    job.found.push_back({dist::tacticText(tactic), {texts.begin(), texts.end()}});
  }
}

/// `split megatron over tp` as `split megatron`.
static StringRef formOf(const FoundTactics &found) { return StringRef(found.form).split(" over").first; }

void hocket::tools::printFoundTactics(const Job &job) {
  for (const FoundTactics &found : job.found) {
    llvm::errs() << "its `" << formOf(found) << "` stands for:\n";
    for (const std::string &text : found.tactics)
      llvm::errs() << "  " << text << '\n';
    if (found.tactics.empty())
      llvm::errs() << "  nothing\n";
  }
}

std::string hocket::tools::foundTacticsText(const Job &job) {
  std::string out;
  for (const FoundTactics &found : job.found) {
    out += fmt::format("\n{} stands for\n", found.form);
    for (const std::string &text : found.tactics)
      out += fmt::format("  {}\n", text);
    if (found.tactics.empty())
      out += "  nothing: every split costs more than it saves\n";
  }
  return out;
}

nlohmann::ordered_json hocket::tools::tacticsJson(const Job &job) {
  nlohmann::ordered_json out = nlohmann::json::array();
  dist::PlanOp plan = job.choice.plan;
  for (Operation &tactic : plan.getBody().front()) {
    auto split = dyn_cast<dist::SplitOp>(tactic);
    auto found = llvm::find_if(job.found, [&](const FoundTactics &each) {
      return split && split.getForm() && each.form == dist::tacticText(split);
    });
    if (found == job.found.end())
      out.push_back(printed(tactic));
    else
      for (const std::string &text : found->tactics)
        out.push_back(text);
  }
  return out;
}
