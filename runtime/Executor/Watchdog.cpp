// Stall detection and the report about it. Statuses are read while ranks write them: every index is checked.
#include "runtime/Executor/Watchdog.h"
#include "runtime/Executor/PassRunner.h"
#include "runtime/Executor/Rank.h"
#include "runtime/Program/ProgramFile.h"
#include <algorithm>
#include <fmt/format.h>

namespace hocket::runtime {

static RankState stateOf(const RankStatus &status) { return status.state.load(std::memory_order_acquire); }

static bool waiting(RankState state) {
  return state == RankState::InCollective || state == RankState::Sending || state == RankState::Receiving;
}

Watchdog::Watchdog(const program::Program &program, const StatusBoard &board, double timeoutSeconds)
    : program(program), board(board), mesh(program), groups(groupsOf(mesh, program)),
      onDevice(program.target()->string_view() == "cuda"), timeoutSeconds(timeoutSeconds),
      limitSeconds(0.9 * timeoutSeconds),
      seen(static_cast<size_t>(board.worldSize()), Seen{0, RankState::Starting, Clock::now()}), checked(Clock::now()) {}

std::optional<Watchdog::Verdict> Watchdog::check() {
  Clock::time_point now = Clock::now();
  // The launcher itself stood still (Ctrl-Z, a loaded machine): what the ranks did meanwhile says nothing.
  if (now - checked > std::chrono::duration<double>(std::max(1.0, limitSeconds / 4)))
    for (Seen &last : seen)
      last.since = now;
  checked = now;
  Verdict stalled;
  bool allStill = true, anyRunning = false;
  for (int rank = 0; rank < board.worldSize(); ++rank) {
    const RankStatus &status = board.status(rank);
    Seen &last = seen[rank];
    uint64_t heartbeat = status.heartbeat.load(std::memory_order_relaxed);
    RankState state = stateOf(status);
    if (heartbeat != last.heartbeat || state != last.state)
      last = {heartbeat, state, now};
    if (state == RankState::Done || state == RankState::Failed)
      continue;
    anyRunning = true;
    bool still = std::chrono::duration<double>(now - last.since).count() > limitSeconds;
    allStill &= still;
    if (still && (!waiting(state) || board.stopped(rank)))
      stalled.ranks.push_back(rank);
  }
  stalled.reason = fmt::format("made no progress for {:.1f} s (--timeout {})", limitSeconds, timeoutSeconds);
  if (!stalled.ranks.empty())
    return stalled;
  if (!anyRunning || !allStill)
    return {};
  for (int rank = 0; rank < board.worldSize(); ++rank)
    if (waiting(seen[rank].state) && waitsFor(rank).empty())
      stalled.ranks.push_back(rank);
  if (!stalled.ranks.empty())
    return stalled;
  for (int rank = 0; rank < board.worldSize(); ++rank)
    if (waiting(seen[rank].state))
      stalled.ranks.push_back(rank);
  stalled.reason = fmt::format("wait for each other since {:.1f} s (--timeout {})", limitSeconds, timeoutSeconds);
  return stalled;
}

// NCCL counts for itself, so of a program for GPUs only statuses tell: who of the group is not in one of its
// collectives.
std::vector<int> Watchdog::notThere(uint32_t group) const {
  std::vector<int> result;
  for (int member : groups.groups[group].ranks) {
    const RankStatus &status = board.status(member);
    if (stateOf(status) != RankState::InCollective || status.communicator.load(std::memory_order_relaxed) != group)
      result.push_back(member);
  }
  return result;
}

std::vector<int> Watchdog::waitsFor(int rank) const {
  const RankStatus &status = board.status(rank);
  uint32_t group = status.communicator.load(std::memory_order_relaxed);
  std::vector<int> result;
  if (group >= groups.groups.size())
    return result;
  switch (stateOf(status)) {
  case RankState::InCollective:
    result = onDevice ? notThere(group) : board.behind(groups.groups[group]);
    break;
  case RankState::Sending:
  case RankState::Receiving:
    result = groups.groups[group].ranks;
    break;
  default:
    break;
  }
  std::erase(result, rank);
  return result;
}

std::string Watchdog::name(int rank) const {
  return fmt::format("rank {} ({}, stage {}{})", rank, mesh.text(static_cast<uint32_t>(rank)),
                     program::stageOf(mesh, program, static_cast<uint32_t>(rank)),
                     hosts.empty() ? "" : ", on host " + hosts[static_cast<size_t>(rank)]);
}

std::string Watchdog::text(uint32_t index) const {
  return index < program.strings()->size() ? program.strings()->Get(index)->str() : "";
}

std::string Watchdog::position(int rank) const {
  const RankStatus &status = board.status(rank);
  const program::RankProgram &own = *program.ranks()->Get(program::stageOf(mesh, program, static_cast<uint32_t>(rank)));
  uint32_t evaluation = status.evaluation.load();
  const program::Entry *entry = entryOf(own, evaluation ? program::evalEntry : program::trainEntry);
  uint32_t row = status.row.load(), body = status.body.load(), instruction = status.instruction.load();
  std::string result = passText(status.step.load(), evaluation);
  if (entry && row < entry->rows()->size()) {
    const program::Row &at = *entry->rows()->Get(row);
    if (at.kind() != program::RowKind::Body || !onceAStep(*own.bodies()->Get(at.index())))
      result += fmt::format(", microbatch {}", at.microbatch());
    result += ", ";
    if (at.kind() == program::RowKind::Body && body < own.bodies()->size()) {
      const program::Body &in = *own.bodies()->Get(body);
      result += in.name()->str();
      if (instruction < in.instructions()->size()) {
        const program::Instruction &running = *in.instructions()->Get(instruction);
        result += fmt::format(" instruction {} '{}' ({})", instruction, text(running.what()), text(running.source()));
      }
    } else if (at.kind() != program::RowKind::Body && own.messages() && at.index() < own.messages()->size()) {
      const program::Message &message = *own.messages()->Get(at.index());
      result += fmt::format("{} '{}' ({})", at.kind() == program::RowKind::Send ? "send" : "receive",
                            message.name()->str(), text(message.source()));
    }
  }
  result += fmt::format(", {}", toString(stateOf(status)));
  if (uint32_t group = status.communicator.load(); group < groups.groups.size())
    result += fmt::format(" on communicator {} '{}' of ranks {}", group, groups.groups[group].name,
                          fmt::join(groups.groups[group].ranks, ", "));
  return result;
}

std::string Watchdog::report(const Verdict &verdict) const {
  constexpr size_t most = 64; // lines about waiting ranks
  std::vector<std::string> names;
  for (int rank : verdict.ranks)
    names.push_back(name(rank));
  std::string result = fmt::format("{} {}\n", fmt::join(names, ", "), verdict.reason);
  for (int rank : verdict.ranks)
    result += fmt::format("note: {} was at {}\n", name(rank), position(rank));
  // Breadth first from the ranks at fault: who waits for one that is known already.
  std::vector<int> known = verdict.ranks;
  for (size_t at = 0; at < known.size() && known.size() < most; ++at)
    for (int rank = 0; rank < board.worldSize(); ++rank) {
      std::vector<int> on = waitsFor(rank);
      if (std::count(known.begin(), known.end(), rank) || !std::count(on.begin(), on.end(), known[at]))
        continue;
      known.push_back(rank);
      result += fmt::format("note: {} waits for rank {}: {}\n", name(rank), known[at], position(rank));
    }
  return result;
}

} // namespace hocket::runtime
