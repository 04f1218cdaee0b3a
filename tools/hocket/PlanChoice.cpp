#include "tools/hocket/PlanChoice.h"
#include "passes/Schedule/Solvers.h"
#include "tools/CommandLine.h"
#include "llvm/ADT/StringExtras.h"
#include <CLI/CLI.hpp>
#include <fmt/format.h>
using namespace mlir;
using namespace hocket;
using namespace hocket::tools;

static std::string scheduleHelp() {
  std::string help = "pipeline schedule (1f1b):";
  for (const schedule::Solver &solver : schedule::solvers())
    help += fmt::format(" {}", solver.name);
  return help + " file:TABLE";
}

void PlanFlags::addTo(CLI::App &command, bool scheduleAlone) {
  auto *byName = command.add_option("--plan", plan, "name of a plan of the file, without @")->check(notEmpty());
  auto *byMesh =
      command.add_option("--mesh", mesh, "axes and sizes of a plan made from flags: pp=2,dp=2,tp=2")->check(notEmpty());
  byName->excludes(byMesh);
  for (auto *option :
       {command.add_option("--microbatch", microbatch, "sequences that a rank takes at a time (1)")
            ->check(wholeNumber(1, 1 << 30)),
        command.add_option("--zero", zero, "ZeRO stage over dp: 0 or 1 (0)")->check(wholeNumber(0, 1))})
    option->needs(byMesh);
  for (auto *option :
       {command.add_option("--schedule", schedule, scheduleHelp()),
        command.add_option("--chunks", chunks, "pieces of the model a stage holds, of schedules with several (1)")
            ->check(wholeNumber(1, 1024))})
    if (!scheduleAlone)
      option->needs(byMesh);
}

/// Names of all ops of one kind, for messages.
template <typename OpT> static std::string namesOf(ModuleOp module) {
  std::vector<std::string> names;
  for (auto op : module.getOps<OpT>())
    names.push_back(op.getSymName().str());
  return names.empty() ? "none" : llvm::join(names, ", ");
}

/// "pp=2,dp=2" as pairs, in order.
static std::optional<std::vector<std::pair<std::string, int64_t>>> readMesh(Session &session, StringRef text) {
  std::vector<std::pair<std::string, int64_t>> axes;
  SmallVector<StringRef> parts;
  text.split(parts, ',');
  unsigned before = session.errors();
  for (StringRef part : parts) {
    auto [name, size] = part.split('=');
    int64_t number = 0;
    if (size.getAsInteger(10, number) || number < 1)
      session.error(
          fmt::format("--mesh: '{}' is not AXIS=SIZE with a size of at least 1, as in pp=2,dp=2,tp=2", part.str()));
    else if (name != "pp" && name != "dp" && name != "tp")
      session.error(fmt::format("--mesh: unknown axis '{}' (legal: pp, dp, tp)", name.str()));
    else if (llvm::any_of(axes, [&](auto &axis) { return axis.first == name; }))
      session.error(fmt::format("--mesh: axis '{}' is given twice", name.str()));
    else
      axes.push_back({name.str(), number});
  }
  if (session.errors() != before)
    return std::nullopt;
  return axes;
}

/// A schedule's name as IR, with the table of `file:table.txt`.
static std::string scheduleText(StringRef flag) {
  std::string text = flag.consume_front("file:") ? "file(\"" : "\"";
  llvm::raw_string_ostream os(text);
  llvm::printEscapedString(flag, os);
  return text + (text.front() == 'f' ? "\")" : "\"");
}

/// Writes the plan that the flags describe as IR.
static bool addPlanFromFlags(Session &session, const PlanFlags &flags) {
  unsigned before = session.errors();
  auto axes = readMesh(session, flags.mesh);
  auto models = llvm::to_vector(session.module().getOps<nn::ModelOp>());
  if (models.size() != 1)
    session.error(fmt::format("--mesh: the file has {} models ({}); a plan made from flags needs exactly one",
                              models.size(), namesOf<nn::ModelOp>(session.module())));
  if (!axes || models.size() != 1)
    return false;
  auto has = [&](StringRef name) { return llvm::any_of(*axes, [&](auto &axis) { return axis.first == name; }); };
  std::vector<std::string> declared;
  for (auto &[name, size] : *axes)
    declared.push_back(fmt::format("\"{}\"={}", name, size));
  std::string text = fmt::format("dist.mesh @flags_mesh<{}>\ndist.plan @flags for @{} on @flags_mesh {{\n",
                                 llvm::join(declared, ", "), models[0].getSymName().str());
  text +=
      fmt::format("  batch {}microbatch {} sequences\n", has("dp") ? "over \"dp\" " : "", flags.microbatch.value_or(1));
  if (has("tp"))
    text += "  split megatron over \"tp\"\n";
  if (has("pp"))
    text += fmt::format("  stages over \"pp\" schedule {}{}\n", scheduleText(flags.schedule.value_or("1f1b")),
                        flags.chunks.value_or(1) == 1 ? "" : fmt::format(" chunks {}", *flags.chunks));
  if (has("dp"))
    text += fmt::format("  zero {} over \"dp\"\n", flags.zero.value_or(0));
  else if (flags.zero.value_or(0) != 0)
    session.error(fmt::format("--zero {} needs an axis dp in --mesh; '{}' has none", *flags.zero, flags.mesh));
  if (flags.chunks && !has("pp"))
    session.error(fmt::format("--chunks {} needs an axis pp in --mesh; '{}' has none", *flags.chunks, flags.mesh));
  if (flags.schedule && !has("pp"))
    session.error(fmt::format("--schedule {} needs an axis pp in --mesh; '{}' has none", *flags.schedule, flags.mesh));
  text += "}\n";
  std::string defaults;
  for (auto [given, name] : {std::pair(flags.microbatch.has_value(), "microbatch 1"),
                             {flags.zero.has_value() || !has("dp"), "zero 0"},
                             {flags.schedule.has_value() || !has("pp"), "schedule 1f1b"}})
    if (!given)
      defaults += (defaults.empty() ? "" : ", ") + std::string(name);
  llvm::errs() << "plan from flags" << (defaults.empty() ? "" : " (defaults taken: " + defaults + ")") << ":\n" << text;
  return session.add(text, "plan from flags") && session.errors() == before;
}

/// The ops a plan names; missing ones were reported by the verifier.
static std::optional<PlanChoice> resolve(Session &session, dist::PlanOp plan) {
  SymbolTable symbols(session.module());
  PlanChoice choice{
      plan, symbols.lookup<dist::MeshOp>(plan.getMesh()), symbols.lookup<nn::ModelOp>(plan.getModel()), {}};
  SmallVector<nn::RecipeOp> recipes;
  for (auto recipe : session.module().getOps<nn::RecipeOp>())
    if (recipe.getModel() == plan.getModel())
      recipes.push_back(recipe);
  if (!choice.mesh || !choice.model)
    return std::nullopt;
  if (recipes.size() != 1) {
    auto error = choice.model.emitError() << "model '" << choice.model.getSymName() << "' has " << recipes.size()
                                          << " recipes; exactly one is needed";
    for (nn::RecipeOp recipe : recipes)
      error.attachNote(recipe.getLoc()) << "recipe '" << recipe.getSymName() << "'";
    return std::nullopt;
  }
  choice.recipe = recipes[0];
  return choice;
}

std::vector<PlanChoice> hocket::tools::choosePlans(Session &session, const PlanFlags &flags, bool all) {
  std::vector<dist::PlanOp> plans;
  if (!flags.mesh.empty() && !addPlanFromFlags(session, flags))
    return {};
  StringRef wanted = flags.mesh.empty() ? StringRef(flags.plan) : StringRef("flags");
  std::vector<StringRef> known;
  for (auto plan : session.module().getOps<dist::PlanOp>()) {
    known.push_back(plan.getSymName());
    if ((all && wanted.empty()) || plan.getSymName() == wanted)
      plans.push_back(plan);
  }
  if (plans.empty() && wanted.empty()) {
    session.error(fmt::format("neither --plan nor --mesh is given; plans of the file: {}",
                              namesOf<dist::PlanOp>(session.module())));
  } else if (plans.empty()) {
    StringRef near = nn::nearestName(wanted, known);
    session.error(fmt::format("the file has no plan '{}' (its plans: {}){}", wanted.str(),
                              namesOf<dist::PlanOp>(session.module()),
                              near.empty() ? "" : fmt::format("; did you mean '{}'?", near.str())));
  }
  std::vector<PlanChoice> choices;
  for (dist::PlanOp plan : plans)
    if (auto choice = resolve(session, plan))
      choices.push_back(*choice);
  return choices;
}
