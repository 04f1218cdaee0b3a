// shfl.sync, vote.sync, match.sync, redux.sync (PTX ISA, sections of these names).
#include "runtime/Device/Emulator/Block.h"
#include "runtime/Device/Emulator/Intrinsics.h"
#include <fmt/format.h>

namespace hocket::runtime::emulator {

namespace {

enum class Mode { Up, Down, Butterfly, Index };

// The lane to read from, and whether it lies in the segment (the predicate).
template <Mode mode> std::pair<uint32_t, bool> source(uint32_t lane, uint32_t b, uint32_t c) {
  uint32_t clamp = c & 31, segment = c >> 8 & 31, delta = b & 31;
  int last = static_cast<int>((lane & segment) | (clamp & ~segment)), self = static_cast<int>(lane);
  int from = 0;
  bool inside = false;
  if constexpr (mode == Mode::Up) {
    from = self - static_cast<int>(delta);
    inside = from >= last; // up: the bound is the lowest lane
  } else {
    from = mode == Mode::Down        ? self + static_cast<int>(delta)
           : mode == Mode::Butterfly ? static_cast<int>(lane ^ delta)
                                     : static_cast<int>((lane & segment) | (delta & ~segment));
    inside = from <= last;
  }
  return {inside ? static_cast<uint32_t>(from) : lane, inside};
}

struct Shuffle {
  uint32_t mask, value, b, c;
};

template <Mode mode, bool predicate> void shuffle(void *result, const void *arguments, uint32_t site) {
  Block &block = Block::running();
  auto given = *static_cast<const Shuffle *>(arguments);
  uint32_t live = block.warp().live;
  const Slots &slots = block.meet(given.mask, &given.value, sizeof given.value, "shfl.sync", site);
  auto [from, inside] = source<mode>(block.thread().lane, given.b, given.c);
  if (!(given.mask & live & (1u << from)))
    block.fail(FaultKind::DivergentWarp,
               fmt::format("shuffles from lane {}, which {} lane mask {:#x}", from,
                           given.mask >> from & 1 ? "has ended though it is in" : "is not in", given.mask),
               site);
  uint32_t value = of<uint32_t>(slots[from]);
  std::memcpy(result, &value, sizeof value);
  if constexpr (predicate)
    static_cast<std::byte *>(result)[sizeof value] = std::byte(inside);
}

struct VoteArguments {
  uint32_t mask;
  bool predicate;
};

// The lanes of the mask whose predicate is true, and those that took part.
std::pair<uint32_t, uint32_t> ballotOf(const void *arguments, uint32_t site) {
  Block &block = Block::running();
  auto given = *static_cast<const VoteArguments *>(arguments);
  uint32_t lanes = given.mask & block.warp().live;
  const Slots &slots = block.meet(given.mask, &given.predicate, 1, "vote.sync", site);
  uint32_t votes = 0;
  for (uint32_t lane = 0; lane < 32; ++lane)
    if (lanes >> lane & 1)
      votes |= uint32_t(of<bool>(slots[lane])) << lane;
  return {votes, lanes};
}

void ballot(void *result, const void *arguments, uint32_t site) {
  *static_cast<uint32_t *>(result) = ballotOf(arguments, site).first;
}
void voteAll(void *result, const void *arguments, uint32_t site) {
  auto [votes, lanes] = ballotOf(arguments, site);
  *static_cast<bool *>(result) = votes == lanes;
}
void voteAny(void *result, const void *arguments, uint32_t site) {
  *static_cast<bool *>(result) = ballotOf(arguments, site).first != 0;
}
void voteUniform(void *result, const void *arguments, uint32_t site) {
  auto [votes, lanes] = ballotOf(arguments, site);
  *static_cast<bool *>(result) = votes == 0 || votes == lanes;
}

template <class T> struct Match {
  uint32_t mask;
  T value;
};

template <class T> uint32_t equalLanes(const Match<T> &given, uint32_t site, uint32_t &lanes) {
  Block &block = Block::running();
  lanes = given.mask & block.warp().live;
  const Slots &slots = block.meet(given.mask, &given.value, sizeof(T), "match.sync", site);
  uint32_t equal = 0;
  for (uint32_t lane = 0; lane < 32; ++lane)
    if (lanes >> lane & 1 && of<T>(slots[lane]) == given.value)
      equal |= 1u << lane;
  return equal;
}

template <class T> void matchAny(void *result, const void *arguments, uint32_t site) {
  uint32_t lanes = 0;
  *static_cast<uint32_t *>(result) = equalLanes(*static_cast<const Match<T> *>(arguments), site, lanes);
}

template <class T> void matchAll(void *result, const void *arguments, uint32_t site) {
  uint32_t lanes = 0;
  bool all = equalLanes(*static_cast<const Match<T> *>(arguments), site, lanes) == lanes;
  *static_cast<uint32_t *>(result) = all ? lanes : 0;
  static_cast<bool *>(result)[4] = all;
}

struct Reduce {
  uint32_t value, mask;
};

template <class T, T (*combine)(T, T)> void reduce(void *result, const void *arguments, uint32_t site) {
  Block &block = Block::running();
  auto given = *static_cast<const Reduce *>(arguments);
  uint32_t lanes = given.mask & block.warp().live;
  const Slots &slots = block.meet(given.mask, &given.value, sizeof given.value, "redux.sync", site);
  T total{};
  bool first = true;
  for (uint32_t lane = 0; lane < 32; ++lane)
    if (lanes >> lane & 1) {
      total = first ? of<T>(slots[lane]) : combine(total, of<T>(slots[lane]));
      first = false;
    }
  std::memcpy(result, &total, sizeof total);
}

template <class T> T plus(T a, T b) { return a + b; }
template <class T> T least(T a, T b) { return a < b ? a : b; }
template <class T> T most(T a, T b) { return a < b ? b : a; }
template <class T> T bitAnd(T a, T b) { return a & b; }
template <class T> T bitOr(T a, T b) { return a | b; }
template <class T> T bitXor(T a, T b) { return a ^ b; }

template <Mode mode> void addMode(IntrinsicTable &table, const std::string &name) {
  for (const char *type : {"i32", "f32"}) {
    table.emplace("llvm.nvvm.shfl.sync." + name + "." + type, packed(shuffle<mode, false>));
    table.emplace("llvm.nvvm.shfl.sync." + name + "." + type + "p", packed(shuffle<mode, true>));
  }
}

} // namespace

void addWarpIntrinsics(IntrinsicTable &table) {
  addMode<Mode::Up>(table, "up");
  addMode<Mode::Down>(table, "down");
  addMode<Mode::Butterfly>(table, "bfly");
  addMode<Mode::Index>(table, "idx");
  table.emplace("llvm.nvvm.vote.ballot.sync", packed(ballot));
  table.emplace("llvm.nvvm.vote.all.sync", packed(voteAll));
  table.emplace("llvm.nvvm.vote.any.sync", packed(voteAny));
  table.emplace("llvm.nvvm.vote.uni.sync", packed(voteUniform));
  table.emplace("llvm.nvvm.match.any.sync.i32", packed(matchAny<uint32_t>));
  table.emplace("llvm.nvvm.match.any.sync.i64", packed(matchAny<uint64_t>));
  table.emplace("llvm.nvvm.match.all.sync.i32p", packed(matchAll<uint32_t>));
  table.emplace("llvm.nvvm.match.all.sync.i64p", packed(matchAll<uint64_t>));
  const std::string redux = "llvm.nvvm.redux.sync.";
  table.emplace(redux + "add", packed(reduce<uint32_t, plus<uint32_t>>));
  table.emplace(redux + "umin", packed(reduce<uint32_t, least<uint32_t>>));
  table.emplace(redux + "umax", packed(reduce<uint32_t, most<uint32_t>>));
  table.emplace(redux + "min", packed(reduce<int32_t, least<int32_t>>));
  table.emplace(redux + "max", packed(reduce<int32_t, most<int32_t>>));
  table.emplace(redux + "and", packed(reduce<uint32_t, bitAnd<uint32_t>>));
  table.emplace(redux + "or", packed(reduce<uint32_t, bitOr<uint32_t>>));
  table.emplace(redux + "xor", packed(reduce<uint32_t, bitXor<uint32_t>>));
}

} // namespace hocket::runtime::emulator
