// hocket check --schedule FILE: judges a schedule by itself, anyone's, without a model.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

namespace hocket::tools {
struct ScheduleCheck {
  std::string schedule; ///< a file (passes/Schedule: TableText.h, ActionsText.h), or the name of one of ours
  std::optional<uint32_t> stages, microbatches, chunks, maxInFlight;
  std::optional<std::string> semantics; ///< rendezvous
  bool json = false;
  bool print = false; ///< the table instead of the verdict: what `schedule file("…")` reads
};
/// Prints the verdict, which states the semantics; faults go to stderr. An exit status.
int checkSchedule(const ScheduleCheck &options);
} // namespace hocket::tools
