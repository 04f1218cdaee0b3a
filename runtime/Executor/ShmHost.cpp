// See ShmHost.h.
#include "runtime/Executor/ShmHost.h"
#include <csignal>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <thread>
#include <unistd.h>

namespace hocket::runtime {

Result<std::unique_ptr<ShmHost>> ShmHost::join(const RunOptions &options) {
  std::signal(SIGINT, SIG_IGN); // a terminal's Ctrl-C is for the launcher, which ends the ranks
  if (Status bound = shm::dieWithParent(options.launcher); !bound)
    return std::move(bound.error());
  Result<shm::Region> region = shm::Region::attach();
  if (!region)
    return std::move(region.error());
  if (options.rank < 0 || options.rank >= region->worldSize())
    return Error{ErrorKind::Invalid, fmt::format("rank {} of {}", options.rank, region->worldSize()), {}};
  Result<RunControl *> control = mapRunControl(options.control);
  if (!control)
    return std::move(control.error());
  std::unique_ptr<ShmHost> host(new ShmHost(options, std::move(*region), **control));
  host->status().pid.store(::getpid());
  return host;
}

// See RunControl.
bool ShmHost::mayBegin(uint64_t pass) {
  status().pass.store(pass);
  if (pass <= control.stopAfter.load())
    return true;
  while (!control.stopDecided.load())
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  return pass <= control.stopAfter.load();
}

// One line, shorter than a pipe's atomic write.
void ShmHost::report(const nlohmann::json &event) {
  std::string line = event.dump() + "\n";
  if (::write(options.reports, line.data(), line.size()) < 0)
    return; // the launcher is gone, and soon this rank
}

// Finished ranks stay until the launcher has looked at their memory.
Status ShmHost::leave() {
  report({{"event", "done"}, {"rank", options.rank}});
  char byte;
  while (::read(options.release, &byte, 1) > 0) {
  }
  return {};
}

} // namespace hocket::runtime
