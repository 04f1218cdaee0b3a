// bar.sync, barrier.sync, barrier.red, and fences, which have nothing to do where one thread runs at a time (the
// checker knows no order but that of barriers, so a flag written after a fence and read by another block is reported as
// a race).
#include "runtime/Device/Emulator/Block.h"
#include "runtime/Device/Emulator/Intrinsics.h"

namespace hocket::runtime::emulator {

namespace {

struct All {
  uint32_t id;
};
struct Counted {
  uint32_t id, count;
};
struct AllVote {
  uint32_t id;
  bool predicate;
};
struct CountedVote {
  uint32_t id, count;
  bool predicate;
};

template <BarrierForm form> void syncAll(void *, const void *arguments, uint32_t site) {
  Block::running().barrier(static_cast<const All *>(arguments)->id, 0, form, false, site);
}

template <BarrierForm form> void syncCounted(void *, const void *arguments, uint32_t site) {
  auto given = *static_cast<const Counted *>(arguments);
  if (!given.count)
    Block::running().fail(FaultKind::DivergentBarrier, "names 0 threads for a barrier", site);
  Block::running().barrier(given.id, given.count, form, false, site);
}

enum class Vote { Count, And, Or };

template <Vote vote> void store(void *result, uint32_t votes, uint32_t voters) {
  if constexpr (vote == Vote::Count)
    *static_cast<uint32_t *>(result) = votes;
  else
    *static_cast<bool *>(result) = vote == Vote::And ? votes == voters : votes > 0;
}

template <BarrierForm form, Vote vote> void reduceAll(void *result, const void *arguments, uint32_t site) {
  auto given = *static_cast<const AllVote *>(arguments);
  // all true: nobody votes "false"
  bool said = vote == Vote::And ? !given.predicate : given.predicate;
  uint32_t votes = Block::running().barrier(given.id, 0, form, said, site);
  store<vote>(result, vote == Vote::And ? (votes == 0) : votes, 1);
}

template <BarrierForm form, Vote vote> void reduceCounted(void *result, const void *arguments, uint32_t site) {
  auto given = *static_cast<const CountedVote *>(arguments);
  bool said = vote == Vote::And ? !given.predicate : given.predicate;
  uint32_t votes = Block::running().barrier(given.id, given.count, form, said, site);
  store<vote>(result, vote == Vote::And ? (votes == 0) : votes, 1);
}

void warpSync(void *, const void *arguments, uint32_t site) {
  Block &block = Block::running();
  uint32_t mask = *static_cast<const uint32_t *>(arguments), nothing = 0;
  block.meet(mask, &nothing, sizeof nothing, "bar.warp.sync", site, [](Slots &) {
    Block &running = Block::running();
    if (running.checks())
      running.checks()->joinLanes(running.thread().warp);
  });
}

void nothing(void *, const void *, uint32_t) {}

template <BarrierForm form> void addForm(IntrinsicTable &table, const std::string &aligned) {
  const std::string sync = "llvm.nvvm.barrier.cta.sync" + aligned, reduce = "llvm.nvvm.barrier.cta.red.";
  table.emplace(sync + ".all", packed(syncAll<form>));
  table.emplace(sync + ".count", packed(syncCounted<form>));
  table.emplace(reduce + "popc" + aligned + ".all", packed(reduceAll<form, Vote::Count>));
  table.emplace(reduce + "and" + aligned + ".all", packed(reduceAll<form, Vote::And>));
  table.emplace(reduce + "or" + aligned + ".all", packed(reduceAll<form, Vote::Or>));
  table.emplace(reduce + "popc" + aligned + ".count", packed(reduceCounted<form, Vote::Count>));
  table.emplace(reduce + "and" + aligned + ".count", packed(reduceCounted<form, Vote::And>));
  table.emplace(reduce + "or" + aligned + ".count", packed(reduceCounted<form, Vote::Or>));
}

} // namespace

void addBarrierIntrinsics(IntrinsicTable &table) {
  addForm<BarrierForm::Aligned>(table, ".aligned");
  addForm<BarrierForm::Unaligned>(table, "");
  table.emplace("llvm.nvvm.bar.warp.sync", packed(warpSync));
  for (const char *fence : {"llvm.nvvm.membar.cta", "llvm.nvvm.membar.gl", "llvm.nvvm.membar.sys"})
    table.emplace(fence, packed(nothing));
}

} // namespace hocket::runtime::emulator
