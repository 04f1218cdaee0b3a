// See Checker.h. A stamp is block (30 bits), thread (10), clock (24); blocks count from 1, so that 0 is nobody.
#include "runtime/Device/Emulator/Checker.h"
#include "runtime/Device/Emulator/Block.h"
#include <algorithm>
#include <fmt/format.h>

namespace hocket::runtime::emulator {

void Checker::beginLaunch(uint32_t warps, size_t sharedBytes) {
  for (uintptr_t number : pagesOfLaunch) {
    Page &page = *pages[number];
    page.read.reset();
    page.written.reset();
    page.listed = false;
  }
  pagesOfLaunch.clear();
  if (blockNumber >= uint64_t(1) << 29) { // a launch has less than 2^24
    blockNumber = 0;
    pages.clear();
    shared.clear();
    lastFound = nullptr;
  }
  firstBlock = blockNumber + 1;
  warpCount = warps;
  if (shared.size() < sharedBytes)
    shared.resize(sharedBytes);
}

void Checker::beginBlock() {
  ++blockNumber;
  clocks.assign(size_t(warpCount) * warpCount, 0);
  for (uint32_t warp = 0; warp < warpCount; ++warp)
    clocks[size_t(warp) * warpCount + warp] = 1;
}

void Checker::joinWarps(const std::vector<uint32_t> &warps) {
  for (uint32_t warp : warps)
    ++clocks[size_t(warp) * warpCount + warp];
  std::vector<uint32_t> known(warpCount, 0);
  for (uint32_t warp : warps)
    for (uint32_t other = 0; other < warpCount; ++other)
      known[other] = std::max(known[other], clocks[size_t(warp) * warpCount + other]);
  for (uint32_t warp : warps)
    std::copy(known.begin(), known.end(), clocks.begin() + static_cast<ptrdiff_t>(size_t(warp) * warpCount));
}

void Checker::joinLanes(uint32_t warp) { ++clocks[size_t(warp) * warpCount + warp]; }

uint64_t Checker::stamp(const Block &, uint32_t warp, uint32_t thread) const {
  return blockNumber << 34 | uint64_t(thread) << 24 | (clocks[size_t(warp) * warpCount + warp] & 0xFFFFFF);
}

// Whether what `before` says happened before what the warp does now. A warp's entry about itself is its clock; about
// others, the clock that theirs had reached when they last met, so "less" is right for both.
bool Checker::ordered(uint64_t before, uint32_t warp) const {
  return (before & 0xFFFFFF) < clocks[size_t(warp) * warpCount + threadOf(before) / 32];
}

void *Checker::sink() {
  alignas(64) static thread_local std::byte nothing[4096];
  std::memset(nothing, 0xFF, sizeof nothing);
  return nothing;
}

Checker::Page &Checker::page(uintptr_t address) {
  uintptr_t number = address / pageBytes;
  if (!lastFound || lastPage != number) {
    std::unique_ptr<Page> &page = pages[number];
    if (!page)
      page = std::make_unique<Page>();
    lastPage = number;
    lastFound = page.get();
  }
  return *lastFound;
}

void Checker::note(uintptr_t address, uint64_t bytes, bool store) {
  for (uint64_t i = 0; i < bytes; ++i) {
    Page &of = page(address + i);
    if (!std::exchange(of.listed, true))
      pagesOfLaunch.push_back((address + i) / pageBytes);
    (store ? of.written : of.read).set((address + i) % pageBytes);
  }
}

std::vector<Touch> Checker::touched() {
  std::vector<Touch> found;
  std::sort(pagesOfLaunch.begin(), pagesOfLaunch.end());
  for (bool writes : {false, true})
    for (uintptr_t number : pagesOfLaunch) {
      const std::bitset<pageBytes> &bytes = writes ? pages[number]->written : pages[number]->read;
      for (uint64_t i = 0; i < pageBytes && bytes.any(); ++i) {
        const auto *at = reinterpret_cast<const std::byte *>(number * pageBytes + i);
        if (!bytes[i])
          continue;
        bool goesOn = !found.empty() && found.back().writes == writes &&
                      static_cast<const std::byte *>(found.back().memory) + found.back().bytes == at;
        if (goesOn)
          ++found.back().bytes;
        else
          found.push_back({at, 1, writes});
      }
    }
  return found;
}

// `byte 12 of shared memory`, `byte 4096 of "x"`
std::string Checker::where(const Block &block, uintptr_t address, bool inShared) const {
  if (inShared)
    return fmt::format("byte {} of shared memory", address - reinterpret_cast<uintptr_t>(block.launch().shared));
  auto region = std::prev(regions.upper_bound(address));
  return fmt::format("byte {} of \"{}\"", address - region->first, region->second.name);
}

void Checker::conflict(Block &block, bool store, const Stamp &other, const char *did, bool inShared, uintptr_t address,
                       uint32_t site) {
  std::string who = block.threadText(threadOf(other.bits));
  bool otherBlock = blockOf(other.bits) != blockNumber;
  if (otherBlock)
    who = "another block";
  block.report(FaultKind::Race,
               fmt::format("{} {}, which {} {}{}, {}", store ? "writes" : "reads", where(block, address, inShared), who,
                           did, block.placeOf(other.site),
                           otherBlock ? "in the same launch" : "with no barrier between"),
               site);
}

// One byte. Reports at most one conflict.
void Checker::touch(Block &block, Cell &cell, uint64_t now, bool store, bool inShared, uintptr_t address,
                    uint32_t site) {
  const Thread &self = block.thread();
  auto conflicts = [&](const Stamp &other) {
    if (!ofThisLaunch(other.bits) || other.bits >> 24 == now >> 24)
      return false;
    return blockOf(other.bits) != blockNumber ? !inShared : !ordered(other.bits, self.warp);
  };
  if (conflicts(cell.write))
    conflict(block, store, cell.write, "wrote", inShared, address, site);
  if (!store) {
    if (cell.read.bits >> 24 != now >> 24) {
      bool before = ofThisLaunch(cell.read.bits);
      cell.manyBlocks = before && (cell.manyBlocks || blockOf(cell.read.bits) != blockNumber);
      cell.otherRead = cell.read;
    }
    cell.read = {now, site};
    return;
  }
  if (conflicts(cell.read))
    conflict(block, store, cell.read, "read", inShared, address, site);
  else if (conflicts(cell.otherRead))
    conflict(block, store, cell.otherRead, "read", inShared, address, site);
  else if (cell.manyBlocks && !inShared && ofThisLaunch(cell.read.bits))
    block.report(
        FaultKind::Race,
        fmt::format("writes {}, which several blocks read in the same launch", where(block, address, inShared)), site);
  cell.write = {now, site};
  cell.pending = false; // of an earlier block
}

bool Checker::inRegion(Block &block, uintptr_t address, uint64_t bytes, bool store, uint32_t site) {
  const char *verb = store ? "writes" : "reads";
  auto after = regions.upper_bound(address);
  if (after == regions.begin()) {
    block.report(FaultKind::OutOfBounds,
                 fmt::format("{} {} bytes at {:#x}, outside all memory made known", verb, bytes, address), site);
    return false;
  }
  const auto &[begin, region] = *std::prev(after);
  if (address + bytes <= begin + region.bytes)
    return true;
  block.report(FaultKind::OutOfBounds,
               fmt::format("{} {} bytes at byte {} of \"{}\", which has {}", verb, bytes, address - begin, region.name,
                           region.bytes),
               site);
  return false;
}

void *Checker::access(Block &block, void *pointer, uint64_t bytes, uint32_t align, uint32_t flags, uint32_t site) {
  const Thread &self = block.thread();
  uintptr_t address = reinterpret_cast<uintptr_t>(pointer);
  if (static_cast<std::byte *>(pointer) - self.stack >= 0 &&
      static_cast<std::byte *>(pointer) - self.stack < ptrdiff_t(Stacks::bytes))
    return pointer;
  bool store = flags & accessStore;
  if (address % align)
    block.report(FaultKind::Misaligned,
                 fmt::format("{} {} bytes aligned to {}, the kernel claims {}", store ? "writes" : "reads", bytes,
                             address & -address, align),
                 site);
  const Block::Launch &launch = block.launch();
  uintptr_t begin = reinterpret_cast<uintptr_t>(launch.shared), size = launch.staticBytes + launch.dynamicBytes;
  // Anything a little past the end is meant to be shared memory, too.
  bool inShared = address >= begin && address < begin + size + sharedMargin;
  if (inShared && address + bytes > begin + size) {
    block.report(FaultKind::OutOfBounds,
                 fmt::format("{} {} bytes at byte {} of shared memory, which has {} ({} static, {} dynamic)",
                             store ? "writes" : "reads", bytes, address - begin, size, launch.staticBytes,
                             launch.dynamicBytes),
                 site);
    return sink();
  }
  if (!inShared && !inRegion(block, address, bytes, store, site))
    return sink();
  if (!inShared)
    note(address, bytes, store);
  if (flags & accessAtomic)
    return pointer;
  uint64_t now = stamp(block, self.warp, self.number);
  for (uint64_t i = 0; i < bytes; ++i) {
    Cell &cell = inShared ? shared[address - begin + i] : page(address + i).cells[(address + i) % pageBytes];
    if (inShared && !store && blockOf(cell.write.bits) != blockNumber) {
      if (uninitialised)
        block.report(FaultKind::UnwrittenShared,
                     fmt::format("reads {}, which nobody wrote", where(block, address + i, true)), site);
    } else if (inShared && cell.pending && blockOf(cell.write.bits) == blockNumber) {
      block.report(FaultKind::UnfinishedCopy,
                   fmt::format("{} {}, which a cp.async of {} that was not waited for writes{}",
                               store ? "writes" : "reads", where(block, address + i, true),
                               block.threadText(threadOf(cell.write.bits)), block.placeOf(cell.write.site)),
                   site);
      continue;
    }
    touch(block, cell, now, store, inShared, address + i, site);
  }
  return pointer;
}

bool Checker::copyIssued(Block &block, void *pointer, uint32_t bytes, uint32_t site) {
  if (access(block, pointer, bytes, bytes, accessStore, site) != pointer)
    return false;
  uintptr_t offset = reinterpret_cast<uintptr_t>(pointer) - reinterpret_cast<uintptr_t>(block.launch().shared);
  for (uint32_t i = 0; i < bytes && offset + i < shared.size(); ++i)
    shared[offset + i].pending = true;
  return true;
}

void Checker::copied(Block &block, void *pointer, uint32_t bytes, uint32_t site) {
  uintptr_t offset = reinterpret_cast<uintptr_t>(pointer) - reinterpret_cast<uintptr_t>(block.launch().shared);
  for (uint32_t i = 0; i < bytes && offset + i < shared.size(); ++i)
    shared[offset + i].pending = false;
  access(block, pointer, bytes, bytes, accessStore, site);
}

} // namespace hocket::runtime::emulator
