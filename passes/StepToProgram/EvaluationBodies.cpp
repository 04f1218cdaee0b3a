// See EvaluationBodies.h.
#include "passes/StepToProgram/EvaluationBodies.h"
#include "runtime/Program/ProgramFile.h"
#include <algorithm>
#include <map>
#include <vector>
using namespace hocket;

namespace {
bool inHostSlot(const program::Buffer &buffer) { return buffer.space() == program::Space::HostSlot; }

class EvaluationBodies {
public:
  EvaluationBodies(program::RankProgramT &rank, program::EntryT &entry) : rank(rank), entry(entry) {
    for (const program::Row &row : entry.rows)
      if (row.kind() == program::RowKind::Body)
        own.try_emplace(row.index(), row.index());
    for (auto &[body, place] : own)
      for (auto &instruction : rank.bodies[body]->instructions)
        if (instruction->op == program::Op::Transfer && inHostSlot(instruction->buffers[0]))
          read.push_back(instruction->buffers[0]);
  }

  void run() {
    for (auto &[body, place] : own)
      if (std::any_of(rank.bodies[body]->instructions.begin(), rank.bodies[body]->instructions.end(),
                      [&](const auto &each) { return isUnread(*each); })) {
        place = static_cast<uint32_t>(rank.bodies.size());
        rank.bodies.push_back(without(*rank.bodies[body]));
      }
    for (program::Row &row : entry.rows)
      if (row.kind() == program::RowKind::Body)
        row = program::Row(row.kind(), row.stream(), static_cast<uint16_t>(own.at(row.index())), row.microbatch(),
                           row.slot(), flatbuffers::span<const uint32_t, 8>(row.wait()->data(), 8));
  }

private:
  bool isUnread(const program::InstructionT &instruction) const {
    if (instruction.op != program::Op::Transfer || !inHostSlot(instruction.buffers[1]))
      return false;
    const program::Buffer &to = instruction.buffers[1];
    return std::none_of(read.begin(), read.end(), [&](const program::Buffer &from) {
      return from.offset() < to.offset() + to.bytes() && to.offset() < from.offset() + from.bytes();
    });
  }

  std::unique_ptr<program::BodyT> without(const program::BodyT &body) const {
    auto made = std::make_unique<program::BodyT>();
    made->name = body.name;
    made->kind = body.kind;
    made->chunk = body.chunk;
    struct Stream {
      std::vector<uint32_t> kept{0}; // of the first n there
      uint32_t awaited = 0;          // of those kept
    };
    std::map<uint8_t, Stream> streams;
    for (const auto &instruction : body.instructions) {
      bool await = instruction->op == program::Op::Await, unread = isUnread(*instruction);
      Stream &stream = streams[instruction->stream];
      if (!await)
        stream.kept.push_back(stream.kept.back() + !unread);
      if (unread || (await && stream.kept[instruction->awaited] <= stream.awaited))
        continue;
      made->instructions.push_back(std::make_unique<program::InstructionT>(*instruction));
      if (await)
        made->instructions.back()->awaited = stream.awaited = stream.kept[instruction->awaited];
    }
    return made;
  }

  program::RankProgramT &rank;
  program::EntryT &entry;
  std::map<uint32_t, uint32_t> own;  // bodies that the entry runs, and what it runs instead
  std::vector<program::Buffer> read; // in the host's slots
};
} // namespace

void hocket::step::dropUnreadTransfers(program::RankProgramT &rank) {
  for (auto &entry : rank.entries)
    if (entry->name == program::evalEntry)
      EvaluationBodies(rank, *entry).run();
}
