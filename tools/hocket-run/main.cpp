// hocket-run: starts the ranks of an executable made by `hocket compile`, on this machine. Here: the command line.
#include "tools/CommandLine.h"
#include "tools/hocket-run/Launcher.h"
#include <CLI/CLI.hpp>
#include <cmath>
#include <cstdio>
#include <new>

using namespace hocket;

int main(int argc, char **argv) {
  run::Options options;
  std::string dataType = "u8";
  CLI::App app{"Runs an executable made by hocket compile as one process per rank.\n"
               "Exit status: 0 done, 1 the input is at fault, 2 the command line cannot be read, 3 a rank failed, 4 "
               "this machine "
               "lacks something",
               "hocket-run"};
  app.add_option("OUT", options.executable, "executable made by hocket compile")->required();
  app.add_option("-n,--ranks", options.ranks, "number of ranks; must be what the program was compiled for")
      ->required()
      ->check(tools::wholeNumber(1, 1 << 20));
  app.add_option("--data", options.data, "file of token ids")->required();
  app.add_option("--data-type", dataType, "type of the ids: u8, u16 or u32")
      ->check(CLI::IsMember({"u8", "u16", "u32"}))
      ->capture_default_str();
  app.add_option("--steps", options.steps, "run until this step, counted from the start of training")
      ->required()
      ->check(tools::wholeNumber(0, int64_t(1) << 40));
  app.add_option("--seed", options.seed, "seed of initial values and sample order, instead of the recipe's")
      ->check(tools::wholeNumber(0, INT64_MAX));
  app.add_option("--metrics", options.metrics, "write one JSON line per step to this file")->check(tools::notEmpty());
  app.add_option("--trace", options.trace, "write a timeline of all ranks for Chrome or Perfetto to this file")
      ->check(tools::notEmpty());
  app.add_option("--timeout", options.timeoutSeconds, "seconds without progress after which a rank is at fault")
      ->check([](const std::string &text) -> std::string {
        double value = 0;
        bool sound = CLI::detail::lexical_cast(text, value) && value > 0 && std::isfinite(value);
        return sound ? "" : "'" + text + "' is not a number of seconds above 0";
      })
      ->capture_default_str();
  app.add_flag("--check-finite", options.checkFinite, "stop at the first result that is not finite, and name it");
  auto *dump =
      app.add_option("--dump", options.dump,
                     "write every rank's state (STEP.RANK.bin, and .json that says what lies where) to this folder")
          ->check(tools::notEmpty());
  app.add_option("--dump-steps", options.dumpSteps, "the steps after which --dump writes; 0: the initial values")
      ->delimiter(',')
      ->check(tools::wholeNumber(0, int64_t(1) << 40))
      ->needs(dump);
  dump->needs("--dump-steps");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError &error) {
    return app.exit(error) == 0 ? run::Done : run::CommandLine;
  }
  options.dataType = *runtime::parseTokenType(dataType);
  try {
    return run::launch(options);
  } catch (const std::bad_alloc &) {
    std::fputs("error: hocket-run itself does not get the memory it needs\n", stderr);
    return run::MachineLacks;
  }
}
