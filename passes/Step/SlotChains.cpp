// Chains from shared buffers; placement from chains and messages.
#include "passes/Step/SlotChains.h"
#include "llvm/ADT/SetVector.h"
#include <map>
using namespace mlir;
using namespace hocket;
using namespace hocket::step;

/// The chunks whose bodies and messages use a buffer.
static llvm::SmallSetVector<uint64_t, 2> chunksOf(BufferOp buffer) {
  llvm::SmallSetVector<uint64_t, 2> chunks;
  for (Operation *user : buffer->getUsers()) {
    if (auto message = dyn_cast<MessageOp>(user)) {
      bool sends = message.getFrom() == buffer->getParentOfType<ProgramOp>().getStage();
      chunks.insert(sends ? message.getFromChunk() : message.getToChunk());
    } else if (auto body = user->getParentOfType<BodyOp>()) {
      chunks.insert(body.getChunk());
    }
  }
  return chunks;
}

SlotChains::SlotChains(ProgramOp program) {
  uint64_t count = 1;
  for (auto body : program.ops<BodyOp>())
    count = std::max(count, body.getChunk() + 1);
  for (uint64_t chunk = 0; chunk < count; ++chunk)
    heads.push_back(chunk);
  for (auto buffer : program.ops<BufferOp>()) {
    if (buffer.getSpace() != Space::Slot)
      continue;
    auto users = chunksOf(buffer);
    for (uint64_t user : users) {
      if (user >= count) // of a message alone: step-verify-program says so
        continue;
      uint64_t low = std::min(heads[user], heads[users.front() < count ? users.front() : user]);
      uint64_t high = std::max(heads[user], heads[users.front() < count ? users.front() : user]);
      std::replace(heads.begin(), heads.end(), high, low);
    }
  }
}

uint64_t SlotChains::chainOf(BufferOp buffer) const {
  auto users = chunksOf(buffer);
  return users.empty() || users.front() >= heads.size() ? 0 : heads[users.front()];
}

std::vector<schedule::Place> hocket::step::placementOf(ArrayRef<ProgramOp> programs, unsigned chunks) {
  using Key = std::pair<unsigned, unsigned>; // stage, chunk
  std::map<Key, Key> next;
  std::set<Key> entered;
  auto follow = [&](Key from, Key to) {
    next[from] = to;
    entered.insert(to);
  };
  for (ProgramOp program : programs) {
    unsigned stage = program.getStage();
    SlotChains chains(program);
    for (uint64_t chunk = 1; chunk < chains.chunks(); ++chunk)
      if (chains.head(chunk) == chains.head(chunk - 1))
        follow({stage, chunk - 1}, {stage, chunk});
    for (auto message : program.ops<MessageOp>())
      if (message.getValues() == MessageValues::Activation && message.getFrom() == stage)
        follow({stage, message.getFromChunk()}, {message.getTo(), message.getToChunk()});
  }
  std::vector<schedule::Place> places;
  for (unsigned stage = 0; stage < programs.size() && places.empty(); ++stage)
    for (unsigned chunk = 0; chunk < chunks && places.empty(); ++chunk)
      if (!entered.count({stage, chunk}))
        places.push_back({stage, static_cast<uint16_t>(chunk)});
  std::set<Key> seen;
  while (!places.empty() && places.size() < programs.size() * chunks) {
    auto it = next.find({places.back().stage, places.back().chunk});
    if (it == next.end() || it->second.first >= programs.size() || !seen.insert(it->second).second)
      return {};
    places.push_back({it->second.first, static_cast<uint16_t>(it->second.second)});
  }
  schedule::Problem usual;
  usual.stages = programs.size();
  usual.chunks = chunks;
  for (unsigned k = 0; k < places.size(); ++k)
    if (places[k] != usual.place(k))
      return places;
  return {};
}
