// hocket explain: what every rank will hold, do and send.
#include "passes/StepToProgram/StepToProgram.h"
#include "tools/hocket/Commands.h"
#include "tools/hocket/Lowering.h"
#include "tools/hocket/Report.h"
#include <CLI/CLI.hpp>
#include <fmt/format.h>
using namespace hocket;
using namespace hocket::tools;

namespace {
struct ExplainOptions {
  ModelFile model;
  std::string format = "text";
  PlanFlags plan;
};

int explain(const ExplainOptions &options) {
  Session session;
  std::optional<Job> job = openJob(session, options.model, options.plan);
  if (!job)
    return InputAtFault;
  PlanChoice &choice = job->choice;
  auto module = lower(session, choice, job->shape, Layer::Kernels);
  if (!module)
    return InputAtFault;
  auto program = step::buildProgram(*module, {});
  if (!program)
    return InputAtFault;
  Report report = makeReport(*program);
  addTypesFrom(*module, report);
  if (options.format == "json")
    fmt::print("{}\n", reportJson(report, *program).dump(2));
  else
    fmt::print("{}", reportText(report, *program));
  return Done;
}
} // namespace

Command hocket::tools::addExplain(CLI::App &app) {
  auto options = std::make_shared<ExplainOptions>();
  auto *command = app.add_subcommand(
      "explain", "per class of equal ranks: stage, layers, groups, memory, transfers and their causes");
  options->model.addTo(*command);
  command->add_option("--format", options->format, "text or json")->check(CLI::IsMember({"text", "json"}));
  options->plan.addTo(*command);
  return [options] { return explain(*options); };
}
