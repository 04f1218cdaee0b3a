// Fibers of one block: who runs, who waits, what is reported.
#include "runtime/Device/Emulator/Block.h"
#include <algorithm>
#include <fmt/format.h>

namespace hocket::runtime::emulator {

static thread_local Block *runningBlock = nullptr;

Block &Block::running() { return *runningBlock; }

Block::Block(const Launch &launch, Stacks &stacks, Checker *checker, Counts &counts)
    : what(launch), checker(checker), counts(counts) {
  uint32_t count = static_cast<uint32_t>(launch.block.count());
  threads.resize(count);
  warps.resize((count + 31) / 32);
  for (uint32_t i = 0; i < count; ++i) {
    Thread &thread = threads[i];
    thread.number = i;
    thread.lane = i % 32;
    thread.warp = i / 32;
    thread.index = {i % launch.block.x, i / launch.block.x % launch.block.y, i / launch.block.x / launch.block.y};
    thread.stack = stacks[i];
  }
}

void Block::start() {
  live = static_cast<uint32_t>(threads.size());
  barriers = {};
  for (Warp &warp : warps) {
    warp.live = 0;
    warp.meetings.clear();
  }
  for (Thread &thread : threads) {
    thread.done = thread.waiting = false;
    thread.copies.clear();
    thread.stackPointer = Stacks::enter(thread.stack, &Block::enter);
    warps[thread.warp].live |= 1u << thread.lane;
  }
  if (checker)
    checker->beginBlock();
}

bool Block::run(Extent index) {
  blockIndex = index;
  runningBlock = this;
  start();
  while (live && !failed) {
    bool moved = false;
    for (Thread &thread : threads) {
      if (thread.done || thread.waiting)
        continue;
      current = &thread;
      moved = true;
      ++counts.switches;
      hocketEmulatorSwitch(&scheduler, thread.stackPointer);
      if (failed)
        break;
    }
    if (!moved) {
      reportStuck();
      break;
    }
  }
  runningBlock = nullptr;
  return !failed;
}

// The first and only function of every fiber.
void Block::enter() {
  Block &block = running();
  block.what.entry(block.what.arguments);
  block.finish(*block.current);
  for (;;)
    block.yield();
}

void Block::finish(Thread &thread) {
  for (const Barrier &barrier : barriers)
    if (uint32_t waiting = barrier.form == BarrierForm::Aligned ? barrier.lanes[thread.warp] : 0)
      fail(FaultKind::DivergentBarrier,
           fmt::format("ends while {} of the same warp waits at a barrier",
                       threadText(thread.warp * 32 + static_cast<uint32_t>(__builtin_ctz(waiting)))),
           barrier.site);
  thread.done = true;
  --live;
  warps[thread.warp].live &= ~(1u << thread.lane);
  for (Barrier &barrier : barriers)
    if (barrier.arrived && !barrier.count && barrier.arrived == live)
      complete(barrier);
}

void Block::yield() { hocketEmulatorSwitch(&current->stackPointer, scheduler); }

void Block::wait(std::string_view name, uint32_t site) {
  Thread &self = *current;
  self.waiting = true;
  self.waitsFor = name;
  self.waitsAt = site;
  while (self.waiting)
    yield();
}

void Block::wake(uint32_t warp, uint32_t lanes) {
  for (uint32_t lane = 0; lane < 32; ++lane)
    if (lanes >> lane & 1)
      threads[warp * 32 + lane].waiting = false;
}

// bar.sync: all threads of a warp must execute it (PTX ISA, "bar, barrier": .aligned). Some that have ended did not.
void Block::checkAligned(uint32_t site) {
  uint32_t first = current->warp * 32;
  uint32_t count = std::min<uint32_t>(32, static_cast<uint32_t>(threads.size()) - first);
  uint32_t all = count == 32 ? ~0u : (1u << count) - 1;
  if (uint32_t ended = all & ~warp().live)
    fail(FaultKind::DivergentBarrier,
         fmt::format("waits at a barrier that {} of the same warp ended without",
                     threadText(first + static_cast<uint32_t>(__builtin_ctz(ended)))),
         site);
}

uint32_t Block::barrier(uint32_t id, uint32_t count, BarrierForm form, bool predicate, uint32_t site) {
  ++counts.barriers;
  if (id >= barriers.size())
    fail(FaultKind::DivergentBarrier, fmt::format("names barrier {}, a block has barriers 0 to 15", id), site);
  if (count % 32 || count > threads.size())
    fail(FaultKind::DivergentBarrier,
         fmt::format("names {} threads for barrier {}, a multiple of 32 up to {} is meant", count, id, threads.size()),
         site);
  if (form == BarrierForm::Aligned)
    checkAligned(site);
  Barrier &barrier = barriers[id];
  if (!barrier.arrived) {
    barrier.site = site;
    barrier.form = form;
    barrier.count = count;
    barrier.first = current->number;
  } else if (barrier.count != count) {
    fail(FaultKind::DivergentBarrier,
         fmt::format("comes to barrier {} for {} threads, {} for {}", id, count, threadText(barrier.first),
                     barrier.count),
         site);
  } else if (!count && barrier.site != site) {
    fail(FaultKind::DivergentBarrier,
         fmt::format("waits at a barrier while {} waits at another one{}", threadText(barrier.first),
                     placeOf(barrier.site)),
         site);
  }
  barrier.lanes[current->warp] |= 1u << current->lane;
  barrier.votes += predicate;
  uint64_t generation = barrier.generation;
  if (++barrier.arrived == (count ? count : live))
    complete(barrier);
  else
    wait("a barrier", site);
  return barrier.result[generation & 1];
}

void Block::complete(Barrier &barrier) {
  barrier.result[barrier.generation++ & 1] = barrier.votes;
  std::vector<uint32_t> joined;
  for (uint32_t warp = 0; warp < warps.size(); ++warp)
    if (uint32_t lanes = std::exchange(barrier.lanes[warp], 0)) {
      joined.push_back(warp);
      wake(warp, lanes);
    }
  if (checker)
    checker->joinWarps(joined);
  barrier.arrived = barrier.votes = 0;
}

const Slots &Block::meet(uint32_t mask, const void *given, size_t bytes, std::string_view name, uint32_t site,
                         void (*last)(Slots &)) {
  ++counts.collectives;
  Thread &self = *current;
  Warp &own = warps[self.warp];
  if (!(mask >> self.lane & 1))
    fail(FaultKind::DivergentWarp,
         fmt::format("executes {} with lane mask {:#x}, which leaves out its own lane {}", name, mask, self.lane),
         site);
  Meeting *meeting = nullptr;
  for (auto &known : own.meetings)
    if (known->mask == mask)
      meeting = known.get();
  if (!meeting) {
    own.meetings.push_back(std::make_unique<Meeting>());
    meeting = own.meetings.back().get();
    meeting->mask = mask;
  }
  if (!meeting->arrived)
    meeting->site = site;
  else if (meeting->site != site)
    fail(FaultKind::DivergentWarp,
         fmt::format("executes {} while {} of the same warp waits at another warp collective{}", name,
                     threadText(self.warp * 32 + static_cast<uint32_t>(__builtin_ctz(meeting->arrived))),
                     placeOf(meeting->site)),
         site);
  Slots &slots = meeting->slots[meeting->generation & 1];
  std::memcpy(slots[self.lane].data(), given, bytes);
  meeting->arrived |= 1u << self.lane;
  if ((meeting->arrived & own.live) == (mask & own.live)) {
    if (last)
      last(slots);
    ++meeting->generation;
    wake(self.warp, std::exchange(meeting->arrived, 0));
  } else {
    wait(name, site);
  }
  return slots;
}

std::string Block::placeOf(uint32_t site) const {
  return site < what.sites->size() ? ", at " + (*what.sites)[site] : std::string();
}

std::string Block::threadText(uint32_t number) const { return "thread " + toString(threads[number].index); }

void Block::report(FaultKind kind, const std::string &text, uint32_t site) {
  constexpr size_t most = 20;
  auto alike = std::find(known.begin(), known.end(), std::pair(kind, site));
  if (alike != known.end()) {
    ++faults[static_cast<size_t>(alike - known.begin())].alike;
    return;
  }
  if (faults.size() == most)
    return;
  known.emplace_back(kind, site);
  faults.push_back({kind, blockIndex, current->index,
                    fmt::format("kernel \"{}\", block {}, {}: {}{}", what.kernel, toString(blockIndex),
                                threadText(current->number), text, placeOf(site)),
                    0});
}

void Block::fail(FaultKind kind, const std::string &text, uint32_t site) {
  report(kind, text, site);
  failed = true;
  for (;;)
    yield();
}

// Nobody can go on: those who wait, by what they wait for.
void Block::reportStuck() {
  failed = true;
  uint32_t ended = 0, firstWaiting = 0;
  std::map<std::pair<std::string_view, uint32_t>, std::vector<uint32_t>> groups;
  for (const Thread &thread : threads)
    if (thread.done)
      ++ended;
    else
      groups[{thread.waitsFor, thread.waitsAt}].push_back(thread.number);
  firstWaiting = groups.begin()->second.front();
  std::string text;
  for (auto &[at, who] : groups)
    text += fmt::format("{}{} {} from {} on wait at {}{}", text.empty() ? "" : "; ", who.size(),
                        who.size() == 1 ? "thread" : "threads", threadText(who.front()), at.first, placeOf(at.second));
  current = &threads[firstWaiting];
  report(FaultKind::Stuck, fmt::format("nobody can go on: {}; {} have ended", text, ended), ~0u);
}

} // namespace hocket::runtime::emulator
