// The block that runs: its threads, the barriers they meet at, the collectives of its warps. Device functions find it
// with Block::running(). One block after the other uses the same object.
#ifndef HOCKET_RUNTIME_DEVICE_EMULATOR_BLOCK_H
#define HOCKET_RUNTIME_DEVICE_EMULATOR_BLOCK_H

#include "runtime/Device/Emulator/Checker.h"
#include "runtime/Device/Emulator/Emulator.h"
#include "runtime/Device/Emulator/Fiber.h"
#include <array>
#include <cstring>
#include <deque>
#include <functional>

namespace hocket::runtime::emulator {

// A cp.async that was issued.
struct Copy {
  std::byte *to;
  const std::byte *from;
  uint32_t bytes, sourceBytes; // the rest becomes zero
  uint32_t site;
};

struct Thread {
  void *stackPointer = nullptr;
  std::byte *stack = nullptr;
  Extent index;
  uint32_t number = 0, lane = 0, warp = 0;
  bool done = false, waiting = false;
  std::string_view waitsFor;            // "bar.sync", "shfl.sync"
  uint32_t waitsAt = 0;                 // site
  std::deque<std::vector<Copy>> copies; // groups; the last one is open
};

// What one lane gives to and takes from a warp collective.
using Slot = std::array<std::byte, 64>;
template <class T> T of(const Slot &slot) {
  T value;
  std::memcpy(&value, slot.data(), sizeof value);
  return value;
}
using Slots = std::array<Slot, 32>;

// Where lanes with one mask meet. Two sets of slots, as lanes may still read the last one when others are ahead.
struct Meeting {
  uint32_t mask = 0, arrived = 0, site = 0;
  uint64_t generation = 0;
  std::array<Slots, 2> slots;
};

struct Warp {
  uint32_t live = 0; // lanes
  std::vector<std::unique_ptr<Meeting>> meetings;
};

enum class BarrierForm : uint8_t { Aligned, Unaligned };

struct Barrier {
  BarrierForm form = BarrierForm::Aligned;              // of the first to arrive
  uint32_t arrived = 0, count = 0, site = 0, first = 0; // count 0: all live threads
  uint64_t generation = 0;
  uint32_t votes = 0; // predicates that were true
  std::array<uint32_t, 2> result{};
  std::array<uint32_t, 32> lanes{}; // which have arrived, by warp
};

class Block {
public:
  // All of a launch. The kernel takes pointers to its arguments, as cuLaunchKernel does.
  struct Launch {
    std::string_view kernel;
    void (*entry)(const void *const *) = nullptr;
    const void *const *arguments = nullptr;
    Extent grid, block;
    std::byte *shared = nullptr;
    uint32_t staticBytes = 0, dynamicBytes = 0;
    const std::vector<std::string> *sites = nullptr;
  };

  Block(const Launch &launch, Stacks &stacks, Checker *checker, Counts &counts);
  static Block &running();
  // Runs one block to its end. False when the launch cannot go on.
  bool run(Extent index);
  std::vector<Fault> takeFaults() { return std::move(faults); }

  const Launch &launch() const { return what; }
  Extent index() const { return blockIndex; }
  Thread &thread() { return *current; }
  Checker *checks() { return checker; }
  Warp &warp() { return warps[current->warp]; }

  // Waits until `count` threads (0: all live ones) have arrived at barrier `id`. Returns how many predicates were true.
  uint32_t barrier(uint32_t id, uint32_t count, BarrierForm form, bool predicate, uint32_t site);

  // Gives `bytes` bytes of this lane to all lanes of the mask and waits for theirs. `last`, when given, is called once,
  // by the last lane to arrive, and may change the slots (results of all lanes, computed at once).
  const Slots &meet(uint32_t mask, const void *given, size_t bytes, std::string_view name, uint32_t site,
                    void (*last)(Slots &) = nullptr);

  // Adds a fault of the running thread. A site is the number of an instruction (Sites.h).
  void report(FaultKind kind, const std::string &text, uint32_t site);
  // The same; ends the launch.
  [[noreturn]] void fail(FaultKind kind, const std::string &text, uint32_t site);
  std::string placeOf(uint32_t site) const;      // ", at k.mlir:12"
  std::string threadText(uint32_t number) const; // "thread (33,0,0)"

private:
  static void enter();
  void start();
  void finish(Thread &thread);
  void wait(std::string_view name, uint32_t site);
  void yield();
  void complete(Barrier &barrier);
  void wake(uint32_t warp, uint32_t lanes);
  void checkAligned(uint32_t site);
  void reportStuck();

  Launch what;
  Checker *checker;
  Counts &counts;
  Extent blockIndex;
  std::vector<Thread> threads;
  std::vector<Warp> warps;
  std::array<Barrier, 16> barriers;
  uint32_t live = 0;
  Thread *current = nullptr;
  void *scheduler = nullptr; // its stack pointer
  bool failed = false;
  std::vector<Fault> faults;
  std::vector<std::pair<FaultKind, uint32_t>> known; // of each fault
};

} // namespace hocket::runtime::emulator
#endif
