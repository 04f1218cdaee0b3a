// Where a rank is, for the launcher's watchdog: written by the rank's executor, read by the launcher, in shared memory.
// All fields are atomics of fixed size; a reader may see two of them from different moments, never a torn one.
#ifndef HOCKET_RUNTIME_COMM_RANKSTATUS_H
#define HOCKET_RUNTIME_COMM_RANKSTATUS_H

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace hocket::runtime {

enum class RankState : uint32_t { Starting, Computing, InCollective, Sending, Receiving, Done, Failed };
std::string_view toString(RankState state); // "starting", "computing", "waiting in a collective", …

struct alignas(64) RankStatus {
  // Value of a field that does not apply.
  static constexpr uint32_t none = UINT32_MAX;
  static constexpr size_t errorBytes = 2048;

  std::atomic<RankState> state{RankState::Starting};
  std::atomic<int32_t> pid{0};
  std::atomic<uint64_t> step{0};
  // Nanoseconds spent in collectives and waiting for messages since the start.
  std::atomic<uint64_t> waited{0};
  // Passes over the program begun, of training and of evaluation: all ranks make the same ones in the same order.
  std::atomic<uint64_t> pass{0};
  // The batch of the evaluation that runs, from 1; 0: a training step runs.
  std::atomic<uint32_t> evaluation{0};
  // Counts rows and instructions begun and finished: a rank whose heartbeat stands still while it computes is stuck.
  std::atomic<uint64_t> heartbeat{0};
  std::atomic<uint32_t> row{none}, body{none}, instruction{none}, microbatch{none}, communicator{none};

  // Rung (counted up and woken) by peers when they move a message of this rank on; for Messages::waitForAny.
  std::atomic<uint32_t> bell{0};

  // The rank's last words: sets them (cut to errorBytes), then the state Failed. For one thread, once.
  void fail(std::string_view text);
  // The last words; empty unless the state is Failed.
  std::string error() const;

private:
  std::atomic<uint32_t> textBytes{0};
  char text[errorBytes] = {};
};
static_assert(std::atomic<RankState>::is_always_lock_free && std::atomic<uint64_t>::is_always_lock_free);

} // namespace hocket::runtime
#endif
