// hocket check --schedule FILE: judges a schedule by itself, anyone's, without a model.
#pragma once
#include "runtime/Launch/FlagRules.h"
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace hocket::tools {
struct ScheduleCheck {
  /// A file (passes/Schedule: TableText.h, ActionsText.h), or the name of one of ours. `file:PATH` is a file whatever
  /// its name.
  std::string schedule;
  std::optional<uint32_t> stages, microbatches, chunks, maxInFlight;
  std::optional<std::string> semantics; ///< rendezvous
  bool json = false;
  bool print = false; ///< the table instead of the verdict: what `schedule file("…")` reads
};
/// What is wrong with a command line that asks for one of ours, or for a name that is neither that nor a file: known
/// before anything is solved. What the schedule itself does not hold (--max-in-flight) is its verdict.
void namedScheduleFaults(const run::GivenWords &given, std::vector<std::string> &faults);
/// Prints the verdict, which states the semantics; faults go to stderr. An exit status.
int checkSchedule(const ScheduleCheck &options);
} // namespace hocket::tools
