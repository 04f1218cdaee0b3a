// See CrewHost.h.
#include "runtime/Launch/CrewHost.h"
#include "runtime/Checkpoint/Folder.h"
#include "runtime/Executor/Trace.h"
#include "runtime/Launch/Machine.h"
#include "runtime/Launch/MemoryLine.h"
#include "runtime/Launch/Rates.h"
#include <cstring>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace hocket::run {

using runtime::Result;
using runtime::Status;

CrewHost::CrewHost(const program::Program &program, runtime::HostsWorld &world, Crew &crew, const Options &options,
                   Progress &progress)
    : program(program), hosts(world), crew(crew), options(options), progress(progress),
      counts(program::countStep(program::Mesh(program), program)), monitor(program, world, crew, options) {}

void CrewHost::report(const nlohmann::json &from) {
  nlohmann::json event = nlohmann::json::parse(from.dump()); // as it arrives over a pipe: a NaN is null
  if (event.at("event") == "step")
    addRates(event, counts);
  if (hosts.rank() != 0 || !progress.show(event) || event.at("event") != "saved")
    return;
  monitor.setNote(
      fmt::format("note: the last checkpoint is '{}'\n", checkpoint::stepFolder(options.save, *progress.savedStep())));
}

Status CrewHost::leave() {
  Result<uint64_t> peak = crew.sum(peakBytesOfThisProcess());
  if (!peak)
    return std::move(peak.error());
  Status last = hosts.rank() == 0 ? finishRun(*peak) : Status();
  if (Status ended = hosts.finish(options.timeoutSeconds, [this] { monitor.release(); }); !ended)
    return ended;
  return last;
}

Status CrewHost::finishRun(uint64_t peakBytes) {
  progress.finish();
  int signal = monitor.stopSignal();
  stoppedEarly = signal && !progress.complete(!options.evalData.empty());
  if (stoppedEarly)
    fmt::print("ended by {} after step {}\n", strsignal(signal), progress.lastStep());
  if (progress.savedStep())
    fmt::print("saved '{}'\n", checkpoint::stepFolder(options.save, *progress.savedStep()));
  fmt::print("{}", memoryLine(options, program, 0, peakBytes));
  std::fflush(stdout);
  if (Status kept = progress.written(); !kept)
    return kept;
  if (options.trace.empty())
    return {};
  std::vector<std::string> parts; // of ranks whose files this host sees
  for (int rank = 0; rank < hosts.size(); ++rank)
    parts.push_back(tracePart(options, rank));
  return runtime::Trace::merge(options.trace, parts);
}

} // namespace hocket::run
