// See PlanFlags.h.
#include "tools/hocket/PlanFlags.h"
#include "dialect/Dist/Dist.h"
#include "passes/Schedule/Solvers.h"
#include "runtime/Launch/FlagRules.h"
#include "tools/CommandLine.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <CLI/CLI.hpp>
#include <fmt/format.h>
using namespace hocket;
using namespace hocket::tools;
using llvm::StringRef;

namespace {
using Faults = std::vector<std::string>;
using Axes = std::vector<std::pair<std::string, int64_t>>;

/// "pp=2,dp=2" as pairs, in order.
Axes readMesh(StringRef text, Faults &faults) {
  Axes axes;
  llvm::SmallVector<StringRef> parts;
  text.split(parts, ',');
  int64_t ranks = 1;
  for (StringRef part : parts) {
    auto [name, size] = part.split('=');
    int64_t number = 0;
    if (size.getAsInteger(10, number) || number < 1)
      faults.push_back(
          fmt::format("'{}' is not AXIS=SIZE with a size from 1 to {}, as in pp=2,dp=2,tp=2", part.str(), INT32_MAX));
    else if (!llvm::is_contained({"pp", "dp", "cp", "tp"}, name))
      faults.push_back(fmt::format("unknown axis '{}' (legal: pp, dp, cp, tp)", name.str()));
    else if (llvm::any_of(axes, [&](auto &axis) { return axis.first == name; }))
      faults.push_back(fmt::format("axis '{}' is given twice", name.str()));
    else
      axes.push_back({name.str(), number});
    if (faults.empty() && (llvm::MulOverflow(ranks, number, ranks) || ranks > INT32_MAX)) {
      faults.push_back(fmt::format("'{}' has more than {} ranks in all", text.str(), INT32_MAX));
      break;
    }
  }
  return axes;
}

bool hasAxis(const Axes &axes, StringRef name) {
  return llvm::any_of(axes, [&](auto &axis) { return axis.first == name; });
}

/// "dp:(2)4,tp" as a tactic writes it: {"dp":(2)4, "tp"}.
std::string axesInQuotes(StringRef text, Faults &faults, llvm::function_ref<void(StringRef)> seen = {}) {
  llvm::SmallVector<StringRef> parts;
  text.split(parts, ',');
  std::vector<std::string> quoted;
  for (StringRef part : parts) {
    auto [name, rest] = part.trim().split(':');
    auto [pre, size] = rest.drop_while([](char c) { return c == '('; }).split(')');
    int64_t number = 0;
    bool isPart = rest.starts_with("(") && !pre.getAsInteger(10, number) && !size.getAsInteger(10, number);
    bool isWord = !name.empty() && llvm::all_of(name, [](char c) { return llvm::isAlnum(c) || c == '_'; });
    if (!isWord || (part.contains(':') && !isPart)) {
      faults.push_back(fmt::format("'{}' is no axis and no part of one, as in dp or dp:(2)4", part.str()));
      continue;
    }
    if (seen)
      seen(name);
    quoted.push_back(fmt::format("\"{}\"{}{}", name.str(), rest.empty() ? "" : ":", rest.str()));
  }
  return quoted.size() == 1 && !StringRef(quoted[0]).contains(':') ? quoted[0] : "{" + llvm::join(quoted, ", ") + "}";
}

std::string quoted(StringRef text) {
  std::string out = "\"";
  llvm::raw_string_ostream os(out);
  llvm::printEscapedString(text, os);
  return out + "\"";
}

/// `full:h.0` as the tactic `recompute "h.0" full`.
std::string recomputeTactic(StringRef flag, Faults &faults) {
  auto [kind, pattern] = flag.split(':');
  if (!dist::symbolizeRecompute(kind))
    faults.push_back(fmt::format("unknown kind '{}' (legal: full, selective, auto)", kind.str()));
  else if (pattern.empty() && flag.contains(':'))
    faults.push_back(fmt::format("'{}' names no layer behind ':'; without it all layers are meant", flag.str()));
  return fmt::format("  recompute {}{}\n", pattern.empty() ? "" : quoted(pattern) + " ", kind.str());
}

/// `activations:h.0` as the tactic `offload activations "h.0"`.
std::string offloadTactic(StringRef flag, Faults &faults) {
  auto [what, pattern] = flag.split(':');
  if (!dist::symbolizeOffload(what))
    faults.push_back(fmt::format("unknown '{}' (legal: activations, optimizer_state, parameters)", what.str()));
  else if (pattern.empty() && flag.contains(':'))
    faults.push_back(fmt::format("'{}' names nothing behind ':'; without it all are meant", flag.str()));
  return fmt::format("  offload {}{}\n", what.str(), pattern.empty() ? "" : " " + quoted(pattern));
}

/// `gradients,parameters` as tactics.
std::string overlapTactics(StringRef flag, Faults &faults) {
  llvm::SmallVector<StringRef> parts;
  flag.split(parts, ',', -1, /*KeepEmpty=*/!flag.empty());
  std::string text;
  for (auto [i, part] : llvm::enumerate(parts)) {
    bool all = part == "all" && parts.size() == 1;
    if (!all && part == "all")
      faults.push_back("'all' stands alone, not among others");
    else if (!all && !dist::symbolizeOverlap(part))
      faults.push_back(
          fmt::format("unknown kind '{}' (legal: gradients, parameters, activations; or all alone)", part.str()));
    else if (llvm::is_contained(llvm::ArrayRef(parts).take_front(i), part))
      faults.push_back(fmt::format("'{}' is given twice", part.str()));
    for (unsigned kind = 0; kind <= dist::getMaxEnumValForOverlap(); ++kind)
      if (StringRef name = dist::stringifyOverlap(static_cast<dist::Overlap>(kind)); all || part == name)
        text += fmt::format("  overlap {}\n", name.str());
  }
  return text;
}

/// A schedule's name as IR, with the table of `file:table.txt`.
std::string scheduleText(StringRef flag) {
  bool table = flag.consume_front("file:");
  return table ? "file(" + quoted(flag) + ")" : quoted(flag);
}

/// A name that nobody has, beside a mesh; without one it may be a file.
void scheduleFaults(StringRef flag, Faults &faults) {
  schedule::Faults unknown;
  if (flag == "file:")
    faults.push_back("--schedule: 'file:' names no file behind ':'");
  else if (!flag.starts_with("file:") && !schedule::findSolver(flag.str(), unknown))
    for (const schedule::Fault &fault : unknown)
      faults.push_back(fmt::format("--schedule: {}", fault.text));
}

/// Flags that act along an axis which the mesh lacks.
void axisFaults(const run::GivenWords &given, Faults &faults) {
  if (!given.has("--mesh"))
    return;
  std::string mesh = given.values("--mesh").front();
  Faults ofMesh;
  Axes axes = readMesh(mesh, ofMesh);
  if (!ofMesh.empty())
    return; // told
  struct Along {
    const char *flag;
    std::vector<const char *> axes;
  };
  for (const Along &along : {Along{"--split", {"tp"}}, Along{"--sequence-parallel", {"tp"}}, Along{"--context", {"cp"}},
                             Along{"--zero", {"dp", "cp"}}, Along{"--chunks", {"pp"}}, Along{"--schedule", {"pp"}}})
    if (given.has(along.flag) && llvm::none_of(along.axes, [&](auto axis) { return hasAxis(axes, axis); }))
      faults.push_back(fmt::format("{} needs an axis {} in --mesh; '{}' has none", given.text(along.flag),
                                   llvm::join(along.axes, " or "), mesh));
  Faults ofExperts;
  for (const std::string &experts : given.values("--experts"))
    axesInQuotes(experts, ofExperts, [&](StringRef axis) {
      if (!hasAxis(axes, axis))
        faults.push_back(
            fmt::format("--experts {} needs an axis {} in --mesh; '{}' has none", experts, axis.str(), mesh));
    });
  for (const std::string &schedule : given.values("--schedule"))
    scheduleFaults(schedule, faults);
}

std::string scheduleHelp() {
  std::string help = "pipeline schedule (1f1b):";
  for (const schedule::Solver &solver : schedule::solvers())
    help += fmt::format(" {}", solver.name);
  return help + " file:TABLE";
}
} // namespace

void hocket::tools::meshFaults(const std::string &text, Faults &faults) { readMesh(text, faults); }

void PlanFlags::addTo(CLI::App &command, run::FlagRules &rules, bool scheduleAlone) {
  using run::withFaults;
  auto *byName = command.add_option("--plan", plan, "name of a plan of the file, without @")->check(notEmpty());
  auto *byMesh = command.add_option("--mesh", mesh, "axes and sizes of a plan made from flags: pp=2,dp=2,tp=2")
                     ->check(withFaults(meshFaults));
  byName->excludes(byMesh);
  for (auto *option :
       {command
            .add_option("--split", split,
                        "how parameters are split over tp: megatron or auto, the form of least cost (megatron)")
            ->check(oneOf({"megatron", "auto"})),
        command.add_option("--microbatch", microbatch, "sequences that a rank takes at a time (1)")
            ->check(wholeNumber(1, 1 << 30)),
        command.add_option("--zero", zero, "ZeRO stage over the data axes: 0 to 3 (0)")->check(wholeNumber(0, 3)),
        command
            .add_option("--experts", experts, "axes that split the experts of a mixture: dp, or dp:(2)4 and the like")
            ->check(withFaults([](auto &text, Faults &faults) { axesInQuotes(text, faults); })),
        command.add_flag("--sequence-parallel", sequenceParallel,
                         "split norms and residuals along the sequence over tp"),
        command
            .add_option("--overlap", overlap,
                        "collectives that run beside computing: gradients, parameters, activations, several with "
                        "commas between, or all")
            ->check(withFaults([](auto &text, Faults &faults) { overlapTactics(text, faults); })),
        command
            .add_option("--context", context,
                        "how attention sees keys of other ranks along cp: ring, all_gather or all_to_all (ring)")
            ->check(oneOf({"ring", "all_gather", "all_to_all"})),
        command
            .add_option(
                "--recompute", recompute,
                "activations that are made again in backward: full, selective or auto (what fits into --memory), "
                "of all layers or of those named, as in selective:h.*.attn; may stand several times")
            ->type_size(1)
            ->expected(1)
            ->take_all()
            ->check(withFaults([](auto &text, Faults &faults) { recomputeTactic(text, faults); })),
        command
            .add_option("--offload", offload,
                        "what lies in the host's memory: activations, optimizer_state or parameters, all or those "
                        "named, as in activations:h.*; may stand several times")
            ->type_size(1)
            ->expected(1)
            ->take_all()
            ->check(withFaults([](auto &text, Faults &faults) { offloadTactic(text, faults); }))})
    option->needs(byMesh);
  for (auto *option :
       {command.add_option("--schedule", schedule, scheduleHelp())->check(notEmpty()),
        command
            .add_option("--chunks", chunks,
                        "pieces of the model a stage holds, of schedules with several (1, or the 2 of a V)")
            ->check(wholeNumber(1, 1024))})
    if (!scheduleAlone)
      option->needs(byMesh);
  command
      .add_option("--max-implicit-comm", maxImplicitBytes,
                  "bytes that a rank may send in a step without a tactic that asks for it; more is an error")
      ->check(wholeNumber(0, int64_t(1) << 62));
  rules.look(command, axisFaults);
}

/// Those of sequences: along tp and cp.
static std::string sequenceTactics(const PlanFlags &flags, const Axes &axes) {
  std::string text = flags.sequenceParallel ? "  sequence over \"tp\"\n" : "";
  if (hasAxis(axes, "cp"))
    text += fmt::format("  context over \"cp\" {}\n", flags.context.empty() ? "ring" : flags.context);
  return text;
}

static std::string defaultsOf(const PlanFlags &flags, const Axes &axes) {
  std::string defaults;
  bool data = hasAxis(axes, "dp") || hasAxis(axes, "cp");
  for (auto [given, name] : {std::pair(flags.microbatch.has_value(), "microbatch 1"),
                             {flags.zero.has_value() || !data, "zero 0"},
                             {!flags.context.empty() || !hasAxis(axes, "cp"), "context ring"},
                             {flags.schedule.has_value() || !hasAxis(axes, "pp"), "schedule 1f1b"}})
    if (!given)
      defaults += (defaults.empty() ? "" : ", ") + std::string(name);
  return defaults;
}

PlanText hocket::tools::planText(const PlanFlags &flags, const std::string &model) {
  Faults told; // when the command line was read
  Axes axes = readMesh(flags.mesh, told);
  bool dp = hasAxis(axes, "dp"), cp = hasAxis(axes, "cp");
  std::vector<std::string> declared;
  for (auto &[name, size] : axes)
    declared.push_back(fmt::format("\"{}\"={}", name, size));
  std::string text = fmt::format("dist.mesh @flags_mesh<{}>\ndist.plan @flags for @{} on @flags_mesh {{\n",
                                 llvm::join(declared, ", "), model);
  text += fmt::format("  batch {}microbatch {} sequences\n", dp ? "over \"dp\" " : "", flags.microbatch.value_or(1));
  if (flags.experts)
    text += fmt::format("  experts over {}\n", axesInQuotes(*flags.experts, told));
  if (hasAxis(axes, "tp"))
    text += fmt::format("  split {} over \"tp\"\n", flags.split.value_or("megatron"));
  text += sequenceTactics(flags, axes);
  if (hasAxis(axes, "pp"))
    text += fmt::format("  stages over \"pp\" schedule {}{}\n", scheduleText(flags.schedule.value_or("1f1b")),
                        flags.chunks ? fmt::format(" chunks {}", *flags.chunks) : "");
  if (dp || cp)
    text += fmt::format("  zero {} over {}\n", flags.zero.value_or(0),
                        !cp   ? "\"dp\""
                        : !dp ? "\"cp\""
                              : "{\"dp\", \"cp\"}");
  for (const std::string &flag : flags.recompute)
    text += recomputeTactic(flag, told);
  for (const std::string &flag : flags.offload)
    text += offloadTactic(flag, told);
  return {text + overlapTactics(flags.overlap, told) + "}\n", defaultsOf(flags, axes)};
}
