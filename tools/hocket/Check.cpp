// hocket check: every fault of model, recipe, plans in one run.
#include "tools/hocket/Commands.h"
#include "tools/hocket/Lowering.h"
#include <CLI/CLI.hpp>
#include <fmt/format.h>
using namespace hocket;
using namespace hocket::tools;

namespace {
struct CheckOptions {
  std::string file, format = "text";
  PlanFlags plan;
};

int check(const CheckOptions &options) {
  Session session;
  if (!session.load(options.file))
    return InputAtFault;
  std::vector<PlanChoice> choices;
  if (session.verify()) {
    choices = choosePlans(session, options.plan, /*all=*/true);
    if (!options.plan.mesh.empty())
      session.verify();
    for (const PlanChoice &choice : choices)
      checkPlan(session, choice);
  }
  if (options.format == "json") {
    fmt::print("{{\"faults\": {}, \"plans\": {}}}\n", session.errors(), choices.size());
  } else if (!session.errors()) {
    fmt::print("{}: no fault; {} plan{} checked\n", options.file, choices.size(), choices.size() == 1 ? "" : "s");
  }
  if (session.errors())
    fmt::print(stderr, "{}: {} fault{}\n", options.file, session.errors(), session.errors() == 1 ? "" : "s");
  return session.errors() ? InputAtFault : Done;
}
} // namespace

Command hocket::tools::addCheck(CLI::App &app) {
  auto options = std::make_shared<CheckOptions>();
  auto *command = app.add_subcommand("check", "verify only: every fault of model, recipe and plan in one run");
  command->add_option("MODEL", options->file, "model file")->required();
  command->add_option("--format", options->format, "text or json")->check(CLI::IsMember({"text", "json"}));
  options->plan.addTo(*command);
  return [options] { return check(*options); };
}
