// hocket-run: starts the ranks of an executable made by `hocket compile`, on this machine or on several hosts. Here:
// the command line; the options that every way of starting ranks takes are in runtime/Launch/Options.h.
#include "runtime/Executor/Variables.h"
#include "runtime/Launch/FileSizeLimit.h"
#include "runtime/Launch/OptionFaults.h"
#include "runtime/Launch/OptionValues.h"
#include "tools/hocket-run/Launcher.h"
#include "tools/hocket-run/SeveralHosts.h"
#include <cstdio>
#include <fmt/ranges.h>
#include <new>

using namespace hocket;

// What was given on the command line, without the options that say how many ranks there are and where.
static std::vector<std::string> forRanks(const CLI::App &app) {
  std::vector<std::string> result;
  for (const CLI::Option *option : app.get_options([](const CLI::Option *o) { return o->count() > 0; })) {
    if (option->get_lnames().empty() || option->check_lname("ranks") || option->check_lname("hosts"))
      continue;
    std::string word = "--" + option->get_lnames()[0];
    bool flag = option->get_items_expected_max() == 0;
    std::string value = fmt::format("{}", fmt::join(option->results(), ","));
    bool plain = flag && (value == "true" || value == "false"); // --no-shuffle is kept as "false"
    result.push_back(plain ? word : word + "=" + value);
  }
  return result;
}

int main(int argc, char **argv) {
  run::makeFileSizeLimitAnError();
  run::Options options;
  CLI::App app{"Runs an executable made by hocket compile as one process per rank.\n"
               "Exit status: 0 done, 1 the input is at fault, 2 the command line is at fault, 3 a rank failed, 4 this "
               "machine lacks something, 128 and its number after SIGTERM or SIGINT",
               "hocket-run"};
  app.add_option("OUT", options.executable, "executable made by hocket compile")->required()->check(run::notEmpty());
  app.add_option("-n,--ranks", options.ranks, "number of ranks; must be what the program was compiled for")
      ->required()
      ->check(run::wholeNumber(1, 1 << 20));
  std::string hosts;
  app.add_option("--hosts", hosts, "run on the hosts of this file (HOST slots=N a line), over MPI")
      ->check(run::notEmpty());
  run::FlagRules rules;
  run::addOptions(app, options, rules);
  if (std::optional<run::Unparsed> unparsed = run::parse(app, argc, argv, rules))
    return run::tell(*unparsed) ? run::Done : run::CommandLine;
  if (std::vector<std::string> faults = runtime::variableFaults(options.ranks); !faults.empty()) {
    for (const std::string &fault : faults)
      fmt::print(stderr, "error: {}\n", fault);
    return run::CommandLine;
  }
  try {
    run::Exit status = hosts.empty() ? run::launch(options) : run::launchOnHosts(options, hosts, forRanks(app));
    if ((std::fflush(stdout) != 0 || std::ferror(stdout)) && status == run::Done) {
      std::fputs("error: the output could not be written\n", stderr);
      return run::MachineLacks;
    }
    return status;
  } catch (const std::bad_alloc &) {
    std::fputs("error: hocket-run itself does not get the memory it needs\n", stderr);
    return run::MachineLacks;
  }
}
