// Which thread touched which byte last, and whether a barrier lies between.
//
// Order is kept as in FastTrack (Flanagan, Freund: "FastTrack: efficient and precise dynamic race detection", PLDI
// 2009, section 3), with warps for its threads: each warp has a clock and knows how far it is ordered after every other
// warp of its block. A barrier among warps joins what they know; bar.warp.sync ticks the warp's own clock, as lanes of
// one warp are not ordered by themselves since Volta. Of reads, the last two by different threads are kept (the paper
// keeps all): enough where barriers are for the whole block, which is what matters here; with barriers of a part of a
// block a race may hide behind a later read. Blocks of a launch are never ordered.
#ifndef HOCKET_RUNTIME_DEVICE_EMULATOR_CHECKER_H
#define HOCKET_RUNTIME_DEVICE_EMULATOR_CHECKER_H

#include "runtime/Device/Device.h"
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace hocket::runtime::emulator {

class Block;

struct Region {
  size_t bytes = 0;
  std::string name;
};
using Regions = std::map<uintptr_t, Region>; // by first address

// Bytes past the end of shared memory that still count as shared memory, and are never anything else.
inline constexpr size_t sharedMargin = 64 << 10;

enum AccessFlags : uint32_t { accessLoad = 0, accessStore = 1, accessAtomic = 2 };

class Checker {
public:
  Checker(const Regions &regions, bool uninitialised) : regions(regions), uninitialised(uninitialised) {}

  void beginLaunch(uint32_t warps, size_t sharedBytes);
  void beginBlock();
  void joinWarps(const std::vector<uint32_t> &warps); // they met at a barrier
  void joinLanes(uint32_t warp);                      // bar.warp.sync of all lanes

  // An access of the running thread. Returns the pointer to use: this one, or memory where nothing can happen.
  void *access(Block &block, void *pointer, uint64_t bytes, uint32_t align, uint32_t flags, uint32_t site);
  // cp.async: its bytes of shared memory are written between now and `copied`.
  bool copyIssued(Block &block, void *pointer, uint32_t bytes, uint32_t site);
  void copied(Block &block, void *pointer, uint32_t bytes, uint32_t site);
  // Global memory that this launch has touched so far, every byte of it, in order of addresses.
  std::vector<Touch> touched();

private:
  // Who touched a byte: block, thread, clock of its warp. 0: nobody.
  struct Stamp {
    uint64_t bits = 0;
    uint32_t site = 0;
  };
  struct Cell {
    Stamp write, read, otherRead;
    bool pending = false;    // a cp.async writes it, not yet waited for
    bool manyBlocks = false; // read by more than one
  };
  static constexpr uint64_t pageBytes = 4096;
  struct Page {
    Cell cells[pageBytes];
    std::bitset<pageBytes> read, written; // by this launch
    bool listed = false;
  };
  static uint64_t blockOf(uint64_t stamp) { return stamp >> 34; }
  bool ofThisLaunch(uint64_t stamp) const { return blockOf(stamp) >= firstBlock; }
  static uint32_t threadOf(uint64_t stamp) { return stamp >> 24 & 0x3FF; }

  uint64_t stamp(const Block &block, uint32_t warp, uint32_t thread) const;
  bool ordered(uint64_t before, uint32_t warp) const;
  void touch(Block &block, Cell &cell, uint64_t now, bool store, bool shared, uintptr_t address, uint32_t site);
  void conflict(Block &block, bool store, const Stamp &other, const char *did, bool shared, uintptr_t address,
                uint32_t site);
  Page &page(uintptr_t address);
  void note(uintptr_t address, uint64_t bytes, bool store);
  bool inRegion(Block &block, uintptr_t address, uint64_t bytes, bool store, uint32_t site);
  std::string where(const Block &block, uintptr_t address, bool shared) const;
  void *sink();

  const Regions &regions;
  bool uninitialised;
  uint64_t firstBlock = 1,
           blockNumber = 0; // blocks count on from launch to launch, so that old stamps need no clearing
  uint32_t warpCount = 0;
  std::vector<uint32_t> clocks; // [warp][other warp]
  std::vector<Cell> shared;
  std::unordered_map<uintptr_t, std::unique_ptr<Page>> pages;
  std::vector<uintptr_t> pagesOfLaunch;
  uintptr_t lastPage = 0;
  Page *lastFound = nullptr;
};

} // namespace hocket::runtime::emulator
#endif
