// cp.async: bytes arrive no earlier than the wait that covers their group, so that a missing or too weak wait shows.
#include "runtime/Device/Emulator/Block.h"
#include "runtime/Device/Emulator/Intrinsics.h"
#include <fmt/format.h>

namespace hocket::runtime::emulator {

namespace {

void issue(Copy copy) {
  Block &block = Block::running();
  Thread &self = block.thread();
  for (auto [address, what] : {std::pair<const void *, const char *>{copy.to, "to"}, {copy.from, "from"}})
    if (reinterpret_cast<uintptr_t>(address) % copy.bytes)
      block.fail(FaultKind::Misaligned,
                 fmt::format("copies {} bytes (cp.async) {} an address that is not aligned to {}", copy.bytes, what,
                             copy.bytes),
                 copy.site);
  if (Checker *checker = block.checks()) {
    if (copy.sourceBytes)
      copy.from = static_cast<const std::byte *>(
          checker->access(block, const_cast<std::byte *>(copy.from), copy.sourceBytes, 1, accessLoad, copy.site));
    if (!checker->copyIssued(block, copy.to, copy.bytes, copy.site))
      return;
  }
  if (self.copies.empty())
    self.copies.emplace_back();
  self.copies.back().push_back(copy);
}

struct Ends {
  std::byte *to;
  const std::byte *from;
  uint32_t sourceBytes; // of the form that has it
};

template <uint32_t bytes, bool sized> void copyAsync(void *, const void *arguments, uint32_t site) {
  const auto &given = *static_cast<const Ends *>(arguments);
  uint32_t sourceBytes = bytes;
  if constexpr (sized)
    sourceBytes = given.sourceBytes;
  if (sourceBytes > bytes)
    Block::running().fail(FaultKind::OutOfBounds,
                          fmt::format("names {} source bytes for a cp.async of {}", sourceBytes, bytes), site);
  issue({given.to, given.from, bytes, sourceBytes, site});
}

void commit(void *, const void *, uint32_t) {
  auto &groups = Block::running().thread().copies;
  if (groups.empty())
    groups.emplace_back();
  groups.emplace_back();
}

// Completes groups until at most `left` committed ones are on their way.
void drain(size_t left) {
  Block &block = Block::running();
  auto &groups = block.thread().copies;
  while (groups.size() > left + 1) {
    for (const Copy &copy : groups.front()) {
      if (block.checks())
        block.checks()->copied(block, copy.to, copy.bytes, copy.site);
      std::memcpy(copy.to, copy.from, copy.sourceBytes);
      std::memset(copy.to + copy.sourceBytes, 0, copy.bytes - copy.sourceBytes);
    }
    groups.pop_front();
  }
}

void waitGroup(void *, const void *arguments, uint32_t) { drain(*static_cast<const uint32_t *>(arguments)); }

void waitAll(void *, const void *arguments, uint32_t site) {
  commit(nullptr, arguments, site);
  drain(0);
}

template <uint32_t bytes> void addForm(IntrinsicTable &table, const std::string &cache) {
  std::string name = "llvm.nvvm.cp.async." + cache + ".shared.global." + std::to_string(bytes);
  table.emplace(name, packed(copyAsync<bytes, false>));
  table.emplace(name + ".s", packed(copyAsync<bytes, true>));
}

} // namespace

void addCopyIntrinsics(IntrinsicTable &table) {
  addForm<4>(table, "ca");
  addForm<8>(table, "ca");
  addForm<16>(table, "ca");
  addForm<16>(table, "cg");
  table.emplace("llvm.nvvm.cp.async.commit.group", packed(commit));
  table.emplace("llvm.nvvm.cp.async.wait.group", packed(waitGroup));
  table.emplace("llvm.nvvm.cp.async.wait.all", packed(waitAll));
}

} // namespace hocket::runtime::emulator
