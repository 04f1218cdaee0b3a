// The options of a run as CLI11 knows them.
#include "runtime/Launch/Options.h"
#include "runtime/Launch/DataFlags.h"
#include "runtime/Launch/OptionFaults.h"
#include "runtime/Launch/OptionValues.h"
#include "runtime/Program/Mesh.h"
#include <cmath>
#include <cstdlib>

namespace hocket::run {

Exit exitOf(const runtime::Error &error) {
  switch (error.kind) {
  case runtime::ErrorKind::Invalid:
    return InputFault;
  case runtime::ErrorKind::Lacking:
    return MachineLacks;
  default:
    return RankFailed;
  }
}

static CLI::Validator seconds() {
  return CLI::Validator(
      [](std::string &text) -> std::string {
        double value = 0;
        bool sound = CLI::detail::lexical_cast(text, value) && value > 0 && std::isfinite(value);
        return sound ? "" : "'" + text + "' is not a number of seconds above 0";
      },
      "", "seconds");
}

static void addInput(CLI::App &app, Options &options) {
  addDataFlags(app, options.data);
  app.add_option("--steps", options.steps, "run until this step, counted from the start of training")
      ->required()
      ->check(wholeNumber(0, int64_t(1) << 40));
  app.add_option("--seed", options.seed, "seed of initial values and sample order, instead of the recipe's")
      ->check(wholeNumber(0, INT64_MAX));
  app.add_option("--timeout", options.timeoutSeconds, "seconds without progress after which a rank is at fault")
      ->check(seconds())
      ->capture_default_str();
}

static void addEvaluation(CLI::App &app, Options &options) {
  auto *data =
      app.add_option("--eval-data", options.evalData,
                     "held-out file of token ids, of the type of the data: evaluated before the first step and "
                     "after the last")
          ->check(notEmpty());
  app.add_option("--eval-every", options.evalEvery, "evaluate after every so many steps too")
      ->check(wholeNumber(1, int64_t(1) << 40))
      ->needs(data);
  app.add_option("--eval-steps", options.evalSteps,
                 "evaluate at most so many batches of the held-out file; all if not given")
      ->check(wholeNumber(1, int64_t(1) << 31))
      ->needs(data);
}

static void addOutput(CLI::App &app, Options &options) {
  app.add_option("--metrics", options.metrics, "write one JSON line per step to this file")->check(notEmpty());
  app.add_option("--trace", options.trace, "write a timeline of all ranks for Chrome or Perfetto to this file")
      ->check(notEmpty());
  app.add_option("--log-calls", options.calls,
                 "write every rank's calls of communicators, in order, to FILE.rankR, one JSON object a line")
      ->check(notEmpty());
  app.add_flag("--check-finite", options.checkFinite, "stop at the first result that is not finite, and name it");
  auto *dump =
      app.add_option("--dump", options.dump,
                     "write every rank's state (STEP.RANK.bin, and .json that says what lies where) to this folder")
          ->check(notEmpty());
  app.add_option("--dump-steps", options.dumpSteps, "the steps after which --dump writes; 0: the initial values")
      ->delimiter(',')
      ->check(wholeNumber(0, int64_t(1) << 40))
      ->needs(dump);
  dump->needs("--dump-steps");
}

// --emulate, --emulate=SEED
static void addEmulate(CLI::App &app, Options &options) {
  app.add_flag(
         "--emulate{1}", [&options](int64_t seed) { options.emulate = static_cast<uint64_t>(seed); },
         "run a program for GPUs on the emulator; =SEED draws the order of what events leave open (1)")
      ->check(wholeNumber(0, INT64_MAX));
}

static void addCheckpoints(CLI::App &app, Options &options) {
  auto *save = app.add_option("--save", options.save,
                              "save checkpoints into this folder: at the end, at SIGTERM, and as --save-every says")
                   ->check(notEmpty());
  app.add_option("--save-every", options.saveEvery, "save after every so many steps")
      ->check(wholeNumber(1, int64_t(1) << 40))
      ->needs(save);
  app.add_option("--keep", options.keep, "checkpoints to keep, the newest (2)")
      ->check(wholeNumber(1, 1 << 30))
      ->needs(save);
  auto *resume = app.add_option("--resume", options.resume,
                                "go on from the newest whole checkpoint of this folder, or from this checkpoint; where "
                                "it is the folder of --save and holds none, start from the beginning")
                     ->check(notEmpty());
  app.add_flag("--new-data", options.newData, "with --resume: --data is another file than before, on purpose")
      ->needs(resume);
}

// What flags belong to, beyond what they need in any case.
static void addRules(CLI::App &app, FlagRules &rules) {
  for (const char *flag : {"--data-type", "--document-end", "--mask-document-ends", "--pad-id"})
    rules.belongs(app, flag, {"--data", "--eval-data"});
  for (const char *flag : {"--no-shuffle", "--new-data"})
    rules.belongs(app, flag, {"--data"});
  rules.look(app, [](const GivenWords &given, std::vector<std::string> &faults) {
    bool trains = given.has("--steps") && !given.has("--steps=0");
    if (trains && !given.has("--data"))
      faults.push_back("--data (with --steps above 0) is required");
    std::vector<std::string> steps = given.values("--steps");
    auto number = [](const std::string &text) { return std::strtoull(text.c_str(), nullptr, 10); };
    for (const std::string &step : given.values("--dump-steps"))
      if (!steps.empty() && number(step) > number(steps.front()))
        faults.push_back(fmt::format("--dump-steps {} comes after the last step {}", step, steps.front()));
  });
}

void addOptions(CLI::App &app, Options &options, FlagRules &rules) {
  addInput(app, options);
  addEvaluation(app, options);
  addOutput(app, options);
  addEmulate(app, options);
  addCheckpoints(app, options);
  addRules(app, rules);
}

std::optional<Unparsed> parse(CLI::App &app, int argc, char **argv, const FlagRules &rules) {
  return parseWords(app, {argv + 1, argv + argc}, rules);
}

runtime::RunOptions rankOptions(const Options &options, const program::Program &program) {
  runtime::RunOptions rank;
  rank.world = static_cast<int>(program::Mesh(program).worldSize());
  rank.data = options.data;
  rank.steps = options.steps;
  rank.seed = options.seed.value_or(program.seed());
  rank.evalData = options.evalData;
  rank.evalEvery = options.evalEvery;
  rank.evalSteps = options.evalSteps;
  rank.timeoutSeconds = options.timeoutSeconds;
  rank.checkFinite = options.checkFinite;
  rank.emulate = options.emulate;
  rank.dump = options.dump;
  rank.dumpSteps = options.dumpSteps;
  rank.save = options.save;
  rank.saveEvery = options.saveEvery;
  rank.keep = options.keep;
  return rank;
}

std::string tracePart(const Options &options, int rank) {
  return options.trace.empty() ? "" : fmt::format("{}.rank{}", options.trace, rank);
}

std::string callsPart(const Options &options, int rank) {
  return options.calls.empty() ? "" : fmt::format("{}.rank{}", options.calls, rank);
}

uint64_t hostBytesOf(const Options &options, const program::Program &program, std::span<const int> ranks) {
  program::Mesh mesh(program);
  bool onGpus = program.target()->string_view() == "cuda" && !options.emulate;
  uint64_t sum = 0;
  for (int rank : ranks) {
    const program::RankProgram &own =
        *program.ranks()->Get(program::stageOf(mesh, program, static_cast<uint32_t>(rank)));
    sum += own.hostBytes() + (onGpus ? 0 : own.arenaBytes());
  }
  return sum;
}

} // namespace hocket::run
