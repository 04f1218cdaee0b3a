// See CrewRun.h.
#include "runtime/Launch/CrewRun.h"
#include "runtime/Comm/Mpi/MpiWorld.h"
#include "runtime/Comm/Tcp/TcpWorld.h"
#include "runtime/Executor/RankDevice.h"
#include "runtime/Executor/Variables.h"
#include "runtime/Launch/Checkpoints.h"
#include "runtime/Launch/Checks.h"
#include "runtime/Launch/CrewHost.h"
#include "runtime/Launch/OptionFaults.h"
#include "runtime/Program/Executable.h"
#include "runtime/Program/ProgramFile.h"
#include <algorithm>
#include <fmt/format.h>
#include <fstream>
#include <nlohmann/json.hpp>

namespace hocket::run {

using runtime::Error;
using runtime::ErrorKind;
using runtime::HostsWorld;
using runtime::Result;
using runtime::Status;

bool isRankOfMpi() { return runtime::mpi::startedByMpi(); }
bool isRankOverTcp() { return runtime::tcp::startedOverTcp(runtime::tcp::ownEnvironment()); }

namespace {

constexpr double startSeconds = 120; // for all ranks to come, before anything has said otherwise

// One rank from its command line to its end. Every step of the start is compared by all ranks, so that all go on or all
// end, with one message.
class Run {
public:
  Run(const runtime::RankImage &image, HostsWorld &world, Crew &crew, const runtime::tcp::Place *overTcp)
      : image(image), world(world), crew(crew), overTcp(overTcp) {}
  Result<Exit> run(int argc, char **argv);

private:
  Status sameForAll(int argc, char **argv);
  std::optional<Exit> readCommandLine(int argc, char **argv);
  Finding readVariables();
  Finding openProgram();
  Finding look();
  Finding prepare();
  Finding reserve();
  Result<Exit> train();

  const runtime::RankImage &image;
  HostsWorld &world;
  Crew &crew;
  const runtime::tcp::Place *const overTcp; // null: over MPI
  Options options;
  const program::Program *program = nullptr;
  std::vector<std::string> resume;
  std::optional<checkpoint::FolderLock> saving;
  Progress progress;
};

Finding faultOf(const Status &status) {
  return status ? Finding{} : Finding{exitOf(status.error()), status.error().message};
}

const program::RankProgram &programOf(const program::Program &program, int rank) {
  program::Mesh mesh(program);
  return *program.ranks()->Get(program::stageOf(mesh, program, static_cast<uint32_t>(rank)));
}

} // namespace

Status Run::sameForAll(int argc, char **argv) {
  std::ifstream file("/proc/self/exe", std::ios::binary);
  std::vector<uint8_t> bytes((std::istreambuf_iterator<char>(file)), {});
  if (Status same = crew.same("the executable", program::checksum(bytes)); !same)
    return same;
  std::string line;
  for (int i = 1; i < argc; ++i)
    line.append(argv[i]).push_back('\0');
  return crew.same("the command line",
                   program::checksum({reinterpret_cast<const uint8_t *>(line.data()), line.size()}));
}

// Only rank 0 explains it; a status where nothing is to be run.
std::optional<Exit> Run::readCommandLine(int argc, char **argv) {
  options.executable = argv[0];
  options.ranks = static_cast<uint64_t>(world.size());
  CLI::App app{"A rank of a program made by hocket compile; start it with mpirun, srun or hocket-run.", argv[0]};
  FlagRules rules;
  addOptions(app, options, rules);
  std::optional<Unparsed> unparsed = parse(app, argc, argv, rules);
  if (!unparsed)
    return {};
  if (world.rank() == 0)
    tell(*unparsed);
  return unparsed->isFault ? CommandLine : Done;
}

Finding Run::readVariables() {
  std::vector<std::string> faults = runtime::variableFaults(options.ranks);
  return faults.empty() ? Finding{} : Finding{CommandLine, fmt::format("{}", fmt::join(faults, "; "))};
}

Finding Run::openProgram() {
  program::Opened opened = program::open(image.program);
  program = opened.program;
  if (!program)
    return {InputFault, fmt::format("{}", fmt::join(opened.faults, "; "))};
  program::Mesh mesh(*program);
  if (mesh.worldSize() == options.ranks)
    return {};
  return {InputFault, fmt::format("'{}' is compiled for {} ranks ({}), started with {}", options.executable,
                                  mesh.worldSize(), mesh.sizesText(), options.ranks)};
}

// One rank looks at each machine.
Finding Run::look() {
  if (!crew.leadsHere())
    return {};
  if (Status sound = allOf({program::checkSeal("/proc/self/exe", options.executable), checkInput(options, *program)});
      !sound)
    return faultOf(sound);
  return faultOf(checkMemory(crew.here().size(), hostBytesOf(options, *program, crew.here())));
}

// Rank 0 chooses what to go on from and makes ready what is written.
Finding Run::prepare() {
  if (world.rank() != 0)
    return {};
  if (Status sound = checkOutput(options); !sound)
    return faultOf(sound);
  Result<std::vector<std::string>> from = chooseResume(options, *program);
  if (!from)
    return faultOf(from.error());
  resume = std::move(*from);
  Result<std::optional<checkpoint::FolderLock>> prepared = prepareSaving(options, *program, resume);
  if (!prepared)
    return faultOf(prepared.error());
  if (*prepared)
    saving.emplace(std::move(**prepared));
  return faultOf(progress.open(options.metrics, options.steps, !resume.empty()));
}

// The arena of a program for GPUs is on its device.
Finding Run::reserve() {
  bool onDevice = runtime::isForGpus(*program);
  return faultOf(world.reserve(onDevice ? 0 : programOf(*program, world.rank()).arenaBytes()));
}

Result<Exit> Run::run(int argc, char **argv) {
  Status same = sameForAll(argc, argv);
  if (!same && same.error().kind != ErrorKind::Invalid)
    return std::move(same.error());
  if (!same)
    return crew.compare(world.rank() == 0 ? faultOf(same) : Finding{});
  if (std::optional<Exit> nothing = readCommandLine(argc, argv))
    return *nothing;
  using Check = Finding (Run::*)();
  for (Check check : {&Run::readVariables, &Run::openProgram, &Run::look, &Run::prepare, &Run::reserve}) {
    Result<Exit> found = crew.compare((this->*check)());
    if (!found || *found != Done)
      return found;
  }
  return train();
}

Result<Exit> Run::train() {
  if (overTcp && world.rank() == 0 && world.size() > 1 && !runtime::isForGpus(*program))
    fmt::print(stderr,
               "note: ranks of a program for CPUs that were started without MPI talk by way of rank 0, which is "
               "slow; mpirun starts them with it\n");
  Result<std::string> from = crew.tell(nlohmann::json(resume).dump());
  if (!from)
    return std::move(from.error());
  runtime::RunOptions rank = rankOptions(options, *program);
  rank.rank = world.rank();
  rank.resume = nlohmann::json::parse(*from).get<std::vector<std::string>>();
  rank.trace = tracePart(options, rank.rank);
  rank.calls = callsPart(options, rank.rank);
  std::vector<int> here = crew.here();
  rank.localRank = static_cast<int>(std::find(here.begin(), here.end(), rank.rank) - here.begin());
  if (overTcp && overTcp->localRank)
    rank.localRank = *overTcp->localRank;
  CrewHost host(*program, world, crew, options, progress);
  int status = runtime::runRank(image, rank, host);
  return status == 0 ? host.outcome() : host.settle(static_cast<Exit>(status));
}

static int complain(const Error &error) {
  fmt::print(stderr, "error: {}\n", error.message);
  return exitOf(error);
}

static int runOn(HostsWorld &world, const runtime::tcp::Place *overTcp, const runtime::RankImage &image, int argc,
                 char **argv) {
  Result<Crew> crew = Crew::gather(world, startSeconds);
  if (!crew)
    return complain(crew.error());
  Result<Exit> ran = Run(image, world, *crew, overTcp).run(argc, argv);
  if (!ran)
    return complain(ran.error());
  // A run that trained has ended its world itself, or cannot; one that ended before, by common decision, does it here.
  if (!world.finished() && !world.aborted())
    if (Status ended = world.finish(startSeconds); !ended)
      return complain(ended.error());
  std::fflush(stdout);
  return *ran;
}

static void prepareProcess() {
  ::setenv("OMP_NUM_THREADS", "1", 1); // oneDNN is called from our own threads
  blockSignals();
}

int runOverMpi(const runtime::RankImage &image, int argc, char **argv) {
  prepareProcess();
  Result<std::unique_ptr<runtime::mpi::MpiWorld>> world = runtime::mpi::MpiWorld::join(startSeconds);
  if (!world)
    return complain(world.error());
  return runOn(**world, nullptr, image, argc, argv);
}

static int runAt(const runtime::tcp::Place &place, const runtime::RankImage &image, int argc, char **argv) {
  Result<std::unique_ptr<runtime::tcp::TcpWorld>> world = runtime::tcp::TcpWorld::join(place, place.startSeconds);
  if (!world)
    return complain(world.error());
  return runOn(**world, &place, image, argc, argv);
}

int runOverTcp(const runtime::RankImage &image, int argc, char **argv) {
  prepareProcess();
  Result<runtime::tcp::Place> place = runtime::tcp::placeOf(runtime::tcp::ownEnvironment());
  if (!place)
    return complain(place.error());
  return runAt(*place, image, argc, argv);
}

int runAlone(const runtime::RankImage &image, int argc, char **argv) {
  Options options;
  CLI::App app{"A rank of a program made by hocket compile; start it with hocket-run, mpirun, srun or torchrun.",
               argv[0]};
  FlagRules rules;
  addOptions(app, options, rules);
  if (std::optional<Unparsed> unparsed = parse(app, argc, argv, rules))
    return tell(*unparsed) ? Done : CommandLine;
  program::Opened opened = program::open(image.program);
  if (!opened.program)
    return complain(Error{ErrorKind::Invalid, fmt::format("{}", fmt::join(opened.faults, "; ")), {}});
  program::Mesh mesh(*opened.program);
  if (mesh.worldSize() == 1) {
    prepareProcess();
    runtime::tcp::Place here;
    here.host = "localhost";
    return runAt(here, image, argc, argv);
  }
  fmt::print(
      stderr,
      "error: '{0}' is one rank of {1} ({2}) and nothing has started the others; start it with hocket-run -n {1} "
      "{0} and these options, or with mpirun, srun or torchrun\n",
      argv[0], mesh.worldSize(), mesh.sizesText());
  return CommandLine;
}

} // namespace hocket::run
