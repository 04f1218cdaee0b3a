// What a person asks of a run, on the command line of hocket-run or, started by mpirun or srun, of the executable
// itself.
#ifndef HOCKET_RUNTIME_LAUNCH_OPTIONS_H
#define HOCKET_RUNTIME_LAUNCH_OPTIONS_H

#include "runtime/Executor/RunOptions.h"
#include "runtime/Program/program_generated.h"
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace hocket::run {
class FlagRules;
struct Unparsed;

// Exit status of a run.
enum Exit { Done = 0, InputFault = 1, CommandLine = 2, RankFailed = 3, MachineLacks = 4 };
Exit exitOf(const runtime::Error &error); // Invalid -> InputFault, Lacking -> MachineLacks, others -> RankFailed

struct Options {
  std::string executable;
  uint64_t ranks = 0;
  runtime::DataSource data;
  uint64_t steps = 0;
  std::optional<uint64_t> seed;
  std::string evalData;                  // empty: no evaluation
  uint64_t evalEvery = 0, evalSteps = 0; // 0: at the ends only; the whole file
  std::string metrics, trace, dump, calls;
  std::vector<uint64_t> dumpSteps;
  double timeoutSeconds = 60;
  bool checkFinite = false;
  std::optional<uint64_t> emulate; // seed of the emulator; none: a program for GPUs runs on GPUs
  std::string save, resume;        // folders; empty: none
  uint64_t saveEvery = 0;          // steps; 0: only at the end
  uint32_t keep = 2;               // checkpoints
  bool newData = false;            // goes on with another data file
};

// Adds all options but OUT and those that say how many ranks there are and where. `options` outlives the app.
void addOptions(CLI::App &app, Options &options, FlagRules &rules);
// Parses; what is to be told where nothing is to be run (--help, a fault).
std::optional<Unparsed> parse(CLI::App &app, int argc, char **argv, const FlagRules &rules);

// What every rank is told of it; where it is (rank, descriptors, trace) is the launcher's to add.
runtime::RunOptions rankOptions(const Options &options, const program::Program &program);
// The file to which a rank writes its part of the trace; empty where none is asked for.
std::string tracePart(const Options &options, int rank);
// The file to which a rank writes its calls of communicators; empty where none is asked for.
std::string callsPart(const Options &options, int rank);
// What the ranks given need of this machine's memory, each for itself: arenas (unless they lie on GPUs) and what is
// offloaded.
uint64_t hostBytesOf(const Options &options, const program::Program &program, std::span<const int> ranks);

} // namespace hocket::run
#endif
