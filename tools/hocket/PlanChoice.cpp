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
       {command
            .add_option("--split", split,
                        "how parameters are split over tp: megatron or auto, the form of least cost (megatron)")
            ->check(CLI::IsMember({"megatron", "auto"})),
        command.add_option("--microbatch", microbatch, "sequences that a rank takes at a time (1)")
            ->check(wholeNumber(1, 1 << 30)),
        command.add_option("--zero", zero, "ZeRO stage over the data axes: 0 to 3 (0)")->check(wholeNumber(0, 3)),
        command
            .add_option("--experts", experts, "axes that split the experts of a mixture: dp, or dp:(2)4 and the like")
            ->check(notEmpty()),
        command.add_flag("--sequence-parallel", sequenceParallel,
                         "split norms and residuals along the sequence over tp"),
        command
            .add_option("--overlap", overlap,
                        "collectives that run beside computing: gradients, parameters, activations, several with "
                        "commas between, or all")
            ->check(notEmpty()),
        command.add_option("--context", context,
                           "how attention sees keys of other ranks along cp: ring, all_gather or all_to_all (ring)"),
        command
            .add_option(
                "--recompute", recompute,
                "activations that are made again in backward: full, selective or auto (what fits into --memory), "
                "of all layers or of those named, as in selective:h.*.attn; may stand several times")
            ->type_size(1)
            ->expected(1)
            ->take_all(),
        command
            .add_option("--offload", offload,
                        "what lies in the host's memory: activations, optimizer_state or parameters, all or those "
                        "named, as in activations:h.*; may stand several times")
            ->type_size(1)
            ->expected(1)
            ->take_all()})
    option->needs(byMesh);
  for (auto *option :
       {command.add_option("--schedule", schedule, scheduleHelp()),
        command.add_option("--chunks", chunks, "pieces of the model a stage holds, of schedules with several (1)")
            ->check(wholeNumber(1, 1024))})
    if (!scheduleAlone)
      option->needs(byMesh);
  command
      .add_option("--max-implicit-comm", maxImplicitBytes,
                  "bytes that a rank may send in a step without a tactic that asks for it; more is an error")
      ->check(wholeNumber(0, int64_t(1) << 62));
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
    else if (!llvm::is_contained({"pp", "dp", "cp", "tp"}, name))
      session.error(fmt::format("--mesh: unknown axis '{}' (legal: pp, dp, cp, tp)", name.str()));
    else if (llvm::any_of(axes, [&](auto &axis) { return axis.first == name; }))
      session.error(fmt::format("--mesh: axis '{}' is given twice", name.str()));
    else
      axes.push_back({name.str(), number});
  }
  if (session.errors() != before)
    return std::nullopt;
  return axes;
}

/// "dp:(2)4,tp" as a tactic writes it: {"dp":(2)4, "tp"}.
static std::string axesInQuotes(Session &session, StringRef flag, StringRef text) {
  SmallVector<StringRef> parts;
  text.split(parts, ',');
  std::vector<std::string> quoted;
  for (StringRef part : parts) {
    auto [name, rest] = part.trim().split(':');
    auto [pre, size] = rest.drop_while([](char c) { return c == '('; }).split(')');
    int64_t number = 0;
    bool isPart = rest.starts_with("(") && !pre.getAsInteger(10, number) && !size.getAsInteger(10, number);
    bool isWord = !name.empty() && llvm::all_of(name, [](char c) { return llvm::isAlnum(c) || c == '_'; });
    if (!isWord || (part.contains(':') && !isPart))
      session.error(fmt::format("{}: '{}' is no axis and no part of one, as in dp or dp:(2)4", flag.str(), part.str()));
    else
      quoted.push_back(fmt::format("\"{}\"{}{}", name.str(), rest.empty() ? "" : ":", rest.str()));
  }
  return quoted.size() == 1 && !StringRef(quoted[0]).contains(':') ? quoted[0] : "{" + llvm::join(quoted, ", ") + "}";
}

/// Tactics that split sequences; flags without the axis they need are faults.
static std::string sequenceTactics(Session &session, const PlanFlags &flags, bool cp, bool tp) {
  std::string text;
  if (flags.sequenceParallel && !tp)
    session.error(fmt::format("--sequence-parallel needs an axis tp in --mesh; '{}' has none", flags.mesh));
  if (!flags.context.empty() && !cp)
    session.error(fmt::format("--context {} needs an axis cp in --mesh; '{}' has none", flags.context, flags.mesh));
  if (!flags.context.empty() && !dist::symbolizeContextKind(flags.context))
    session.error(fmt::format("--context: unknown kind '{}' (legal: ring, all_gather, all_to_all)", flags.context));
  if (flags.sequenceParallel)
    text += "  sequence over \"tp\"\n";
  if (cp)
    text += fmt::format("  context over \"cp\" {}\n", flags.context.empty() ? "ring" : flags.context);
  return text;
}

static std::string quoted(StringRef text) {
  std::string out = "\"";
  llvm::raw_string_ostream os(out);
  llvm::printEscapedString(text, os);
  return out + "\"";
}

/// `--recompute full:h.0` as the tactic `recompute "h.0" full`.
static std::string recomputeTactics(Session &session, const PlanFlags &flags) {
  std::string text;
  for (StringRef flag : flags.recompute) {
    auto [kind, pattern] = flag.split(':');
    if (!dist::symbolizeRecompute(kind))
      session.error(fmt::format("--recompute: unknown kind '{}' (legal: full, selective, auto)", kind.str()));
    else if (pattern.empty() && flag.contains(':'))
      session.error(
          fmt::format("--recompute: '{}' names no layer behind ':'; without it all layers are meant", flag.str()));
    else
      text += fmt::format("  recompute {}{}\n", pattern.empty() ? "" : quoted(pattern) + " ", kind.str());
  }
  return text;
}

/// `--overlap gradients,parameters` as tactics.
static std::string overlapTactics(Session &session, const PlanFlags &flags) {
  SmallVector<StringRef> parts;
  StringRef(flags.overlap).split(parts, ',', -1, /*KeepEmpty=*/!flags.overlap.empty());
  std::string text;
  for (auto [i, part] : llvm::enumerate(parts)) {
    bool all = part == "all" && parts.size() == 1;
    if (!all && part == "all")
      session.error("--overlap: 'all' stands alone, not among others");
    else if (!all && !dist::symbolizeOverlap(part))
      session.error(fmt::format(
          "--overlap: unknown kind '{}' (legal: gradients, parameters, activations; or all alone)", part.str()));
    else if (llvm::is_contained(ArrayRef(parts).take_front(i), part))
      session.error(fmt::format("--overlap: '{}' is given twice", part.str()));
    for (unsigned kind = 0; kind <= dist::getMaxEnumValForOverlap(); ++kind)
      if (StringRef name = dist::stringifyOverlap(static_cast<dist::Overlap>(kind)); all || part == name)
        text += fmt::format("  overlap {}\n", name.str());
  }
  return text;
}

/// `--offload activations:h.0` as the tactic `offload activations "h.0"`.
static std::string offloadTactics(Session &session, const PlanFlags &flags) {
  std::string text;
  for (StringRef flag : flags.offload) {
    auto [what, pattern] = flag.split(':');
    if (!dist::symbolizeOffload(what))
      session.error(
          fmt::format("--offload: unknown '{}' (legal: activations, optimizer_state, parameters)", what.str()));
    else if (pattern.empty() && flag.contains(':'))
      session.error(fmt::format("--offload {}: names nothing behind ':'; without it all are meant", flag.str()));
    else
      text += fmt::format("  offload {}{}\n", what.str(), pattern.empty() ? "" : " " + quoted(pattern));
  }
  return text;
}

/// A schedule's name as IR, with the table of `file:table.txt`.
static std::string scheduleText(StringRef flag) {
  bool table = flag.consume_front("file:");
  return table ? "file(" + quoted(flag) + ")" : quoted(flag);
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
  if (std::string over = flags.experts ? axesInQuotes(session, "--experts", *flags.experts) : "{}"; over != "{}")
    text += fmt::format("  experts over {}\n", over);
  if (has("tp"))
    text += fmt::format("  split {} over \"tp\"\n", flags.split.value_or("megatron"));
  else if (flags.split)
    session.error(fmt::format("--split {} needs an axis tp in --mesh; '{}' has none", *flags.split, flags.mesh));
  text += sequenceTactics(session, flags, has("cp"), has("tp"));
  if (has("pp"))
    text += fmt::format("  stages over \"pp\" schedule {}{}\n", scheduleText(flags.schedule.value_or("1f1b")),
                        flags.chunks.value_or(1) == 1 ? "" : fmt::format(" chunks {}", *flags.chunks));
  if (has("dp") || has("cp"))
    text += fmt::format("  zero {} over {}\n", flags.zero.value_or(0),
                        !has("cp")   ? "\"dp\""
                        : !has("dp") ? "\"cp\""
                                     : "{\"dp\", \"cp\"}");
  else if (flags.zero.value_or(0) != 0)
    session.error(fmt::format("--zero {} needs an axis dp or cp in --mesh; '{}' has none", *flags.zero, flags.mesh));
  if (flags.chunks && !has("pp"))
    session.error(fmt::format("--chunks {} needs an axis pp in --mesh; '{}' has none", *flags.chunks, flags.mesh));
  if (flags.schedule && !has("pp"))
    session.error(fmt::format("--schedule {} needs an axis pp in --mesh; '{}' has none", *flags.schedule, flags.mesh));
  text += recomputeTactics(session, flags) + offloadTactics(session, flags) + overlapTactics(session, flags) + "}\n";
  std::string defaults;
  for (auto [given, name] : {std::pair(flags.microbatch.has_value(), "microbatch 1"),
                             {flags.zero.has_value() || !(has("dp") || has("cp")), "zero 0"},
                             {!flags.context.empty() || !has("cp"), "context ring"},
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
      plan, symbols.lookup<dist::MeshOp>(plan.getMesh()), symbols.lookup<nn::ModelOp>(plan.getModel()), {}, {}};
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
    if (auto choice = resolve(session, plan)) {
      choice->maxImplicitBytes = flags.maxImplicitBytes;
      choice->semantics = flags.semantics;
      choices.push_back(*choice);
    }
  return choices;
}
