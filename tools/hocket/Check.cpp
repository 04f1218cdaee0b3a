// hocket check: every fault of model, recipe, plans in one run.
#include "tools/hocket/Commands.h"
#include "tools/hocket/Lowering.h"
#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
using namespace hocket;
using namespace hocket::tools;

namespace {
struct CheckOptions {
  ModelFile model;
  std::string format = "text";
  PlanFlags plan;
};

nlohmann::ordered_json json(const Session &session, size_t plans) {
  nlohmann::ordered_json out{{"plans", plans}, {"faults", nlohmann::json::array()}};
  for (const Session::Fault &fault : session.faults()) {
    nlohmann::ordered_json notes = nlohmann::json::array();
    for (const Session::Message &note : fault.notes)
      notes.push_back({{"place", note.place}, {"text", note.text}});
    out["faults"].push_back({{"place", fault.place}, {"text", fault.text}, {"notes", notes}});
  }
  return out;
}

int check(const CheckOptions &options) {
  Session session;
  std::vector<PlanChoice> choices;
  if (loadModel(session, options.model))
    choices = checkFile(session, options.plan);
  if (options.format == "json") {
    fmt::print("{}\n", json(session, choices.size()).dump(2));
  } else if (!session.errors()) {
    fmt::print("{}: no fault; {} plan{} checked\n", options.model.path, choices.size(), choices.size() == 1 ? "" : "s");
  }
  if (session.errors())
    fmt::print(stderr, "{}: {} fault{}\n", options.model.path, session.errors(), session.errors() == 1 ? "" : "s");
  return session.errors() ? InputAtFault : Done;
}
} // namespace

Command hocket::tools::addCheck(CLI::App &app) {
  auto options = std::make_shared<CheckOptions>();
  auto *command = app.add_subcommand("check", "verify only: every fault of model, recipe and plan in one run");
  options->model.addTo(*command);
  command->add_option("--format", options->format, "text or json")->check(CLI::IsMember({"text", "json"}));
  options->plan.addTo(*command);
  return [options] { return check(*options); };
}
