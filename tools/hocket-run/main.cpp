// hocket-run: starts the ranks of an executable made by `hocket compile`, on this machine. Here: the command line; the
// options that every way of starting ranks takes are in runtime/Launch/Options.h.
#include "runtime/Launch/OptionValues.h"
#include "tools/hocket-run/Launcher.h"
#include <cstdio>
#include <new>

using namespace hocket;

int main(int argc, char **argv) {
  run::Options options;
  CLI::App app{"Runs an executable made by hocket compile as one process per rank.\n"
               "Exit status: 0 done, 1 the input is at fault, 2 the command line cannot be read, 3 a rank failed, 4 "
               "this machine "
               "lacks something",
               "hocket-run"};
  app.add_option("OUT", options.executable, "executable made by hocket compile")->required();
  app.add_option("-n,--ranks", options.ranks, "number of ranks; must be what the program was compiled for")
      ->required()
      ->check(run::wholeNumber(1, 1 << 20));
  run::addOptions(app, options);
  if (std::optional<run::Exit> ended = run::parse(app, argc, argv))
    return *ended;
  try {
    return run::launch(options);
  } catch (const std::bad_alloc &) {
    std::fputs("error: hocket-run itself does not get the memory it needs\n", stderr);
    return run::MachineLacks;
  }
}
