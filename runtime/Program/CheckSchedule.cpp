// Rows, waits and messages of each stage's schedule, and what the stages promise each other.
#include "runtime/Program/Check.h"
#include "runtime/Program/OpKinds.h"
#include <map>
#include <set>

namespace hocket::program {
namespace {
// A schedule may have millions of rows: their names are put together only for a fault.
struct RowName {
  const std::string &entry;
  uint32_t row;
};
} // namespace
} // namespace hocket::program

template <> struct fmt::formatter<hocket::program::RowName> : fmt::formatter<std::string_view> {
  template <class Context> auto format(const hocket::program::RowName &name, Context &context) const {
    return fmt::format_to(context.out(), "{} row {}", name.entry, name.row);
  }
};

namespace hocket::program {

static constexpr uint32_t maxStreams = 8;

static void checkMessage(CheckContext &context, const RankProgram &rank, const Message &message) {
  std::string where = fmt::format("stage {} message '{}'", rank.stage(), message.name()->str());
  const auto *communicators = context.program.communicators();
  context.stringIn(message.source(), where);
  if (!context.indexIn(message.communicator(), communicators ? communicators->size() : 0, where, "communicator"))
    return;
  const Communicator &edge = *communicators->Get(message.communicator());
  if (edge.kind() != CommunicatorKind::Edge || !memberCount(context.program, edge, rank.stage()))
    context.fault("{}: communicator '{}' is no edge of stage {}", where, edge.name()->str(), rank.stage());
  if (!message.buffer() || message.buffer()->bytes() == 0 || message.buffer()->bytes() % 2)
    context.fault("{}: {} bytes, expected an even number above 0", where,
                  message.buffer() ? message.buffer()->bytes() : 0);
  else
    checkBuffer(context, rank, *message.buffer(), where);
}

/// Indices, kinds and streams of one row; true if sound.
static bool checkRow(CheckContext &context, const RankProgram &rank, const Row &row, uint32_t streams,
                     const RowName &where) {
  if (!context.enumIn(row.kind(), where, "kind") || !context.indexIn(row.stream(), streams, where, "stream"))
    return false;
  bool body = row.kind() == RowKind::Body;
  uint32_t messages = rank.messages() ? rank.messages()->size() : 0;
  bool sound = context.indexIn(row.index(), body ? rank.bodies()->size() : messages, where, body ? "body" : "message");
  sound &= context.indexIn(row.microbatch(), context.program.microbatches(), where, "microbatch");
  sound &= context.indexIn(row.slot(), std::max(rank.slotCount(), 1u), where, "slot");
  if (body != (row.stream() == 0)) {
    context.fault("{}: a {} on stream {}, expected {}", where, EnumNameRowKind(row.kind()), row.stream(),
                  body ? "stream 0" : "another than 0");
    sound = false;
  }
  if (sound && !body) {
    const Message &message = *rank.messages()->Get(row.index());
    const Communicator *edge = context.program.communicators()->Get(message.communicator());
    uint32_t end = row.kind() == RowKind::Send ? edge->from() : edge->to();
    if (end != rank.stage()) {
      context.fault("{}: {} of '{}', whose {} is stage {}", where, EnumNameRowKind(row.kind()), message.name()->str(),
                    row.kind() == RowKind::Send ? "sender" : "receiver", end);
      sound = false;
    }
  }
  return sound;
}

/// Runs the rows with every message arriving at once: what is left can never start.
static void checkProgress(CheckContext &context, const Entry &entry, const std::vector<std::vector<uint32_t>> &rowsOf,
                          const std::string &where) {
  std::vector<uint32_t> done(rowsOf.size());
  for (bool moved = true; moved;) {
    moved = false;
    for (size_t stream = 0; stream < rowsOf.size(); ++stream)
      while (done[stream] < rowsOf[stream].size()) {
        const Row &row = *entry.rows()->Get(rowsOf[stream][done[stream]]);
        bool ready = true;
        for (size_t other = 0; other < rowsOf.size(); ++other)
          ready &= row.wait()->Get(static_cast<uint32_t>(other)) <= done[other];
        if (!ready)
          break;
        ++done[stream];
        moved = true;
      }
  }
  for (size_t stream = 0; stream < rowsOf.size(); ++stream)
    if (done[stream] < rowsOf[stream].size())
      context.fault("{} row {}: waits for rows that wait for it", where, rowsOf[stream][done[stream]]);
}

static void checkEntry(CheckContext &context, const RankProgram &rank, const Entry &entry) {
  std::string where = fmt::format("stage {} entry '{}'", rank.stage(), entry.name()->str());
  uint32_t streams = entry.streams() ? entry.streams()->size() : 0;
  if (streams < 1 || streams > maxStreams) {
    context.fault("{}: {} streams, expected 1 to {}", where, streams, maxStreams);
    return;
  }
  std::vector<std::vector<uint32_t>> rowsOf(streams);
  std::map<uint32_t, uint32_t> streamOf; // of a communicator
  bool sound = true;
  for (uint32_t i = 0; i < entry.rows()->size(); ++i) {
    const Row &row = *entry.rows()->Get(i);
    if (!checkRow(context, rank, row, streams, {where, i})) {
      sound = false;
      continue;
    }
    rowsOf[row.stream()].push_back(i);
    if (row.kind() == RowKind::Body)
      continue;
    uint32_t communicator = rank.messages()->Get(row.index())->communicator();
    if (auto [at, fresh] = streamOf.insert({communicator, row.stream()}); !fresh && at->second != row.stream()) {
      context.fault(
          "{} row {}: messages of '{}' on streams {} and {}, expected one stream, so that their order is known", where,
          i, context.program.communicators()->Get(communicator)->name()->str(), at->second, row.stream());
      sound = false;
    }
  }
  for (uint32_t i = 0; sound && i < entry.rows()->size(); ++i)
    for (uint32_t stream = 0; stream < maxStreams; ++stream) {
      uint32_t wait = entry.rows()->Get(i)->wait()->Get(stream);
      uint64_t rows = stream < streams ? rowsOf[stream].size() : 0;
      if (wait > rows) {
        context.fault("{} row {}: waits for {} rows of stream {}, which has {}", where, i, wait, stream, rows);
        sound = false;
      }
    }
  if (sound)
    checkProgress(context, entry, rowsOf, where);
}

void checkSchedule(CheckContext &context, const RankProgram &rank) {
  size_t before = context.faults.size();
  if (rank.messages())
    for (const Message *message : *rank.messages())
      checkMessage(context, rank, *message);
  if (context.faults.size() != before)
    return;
  std::set<std::string> names;
  for (const Entry *entry : *rank.entries()) {
    if (!names.insert(entry->name()->str()).second)
      context.fault("stage {}: entry '{}' is there twice", rank.stage(), entry->name()->str());
    checkEntry(context, rank, *entry);
  }
}

namespace {
/// One transfer on a communicator, as one member sees it: a message, or a collective of a body.
struct Transfer {
  const Message *message;
  const Instruction *collective;
  uint32_t stage, microbatch;

  uint64_t bytes() const { return message ? message->buffer()->bytes() : collective->buffers()->Get(0)->bytes(); }
  bool matches(const Transfer &other) const {
    bool same = bytes() == other.bytes();
    if (collective)
      same = same && collective->op() == other.collective->op() && collective->type() == other.collective->type() &&
             collective->reduction() == other.collective->reduction();
    return same;
  }
  std::string text(const Program &program) const {
    if (message)
      return fmt::format("{} bytes (stage {} '{}' microbatch {})", bytes(), stage, message->name()->str(), microbatch);
    return fmt::format("{} {} of {} bytes of {} (stage {} '{}')", EnumNameOp(collective->op()),
                       EnumNameReduction(collective->reduction()), bytes(), EnumNameDType(collective->type()), stage,
                       program.strings()->Get(collective->what())->str());
  }
};
using Transfers = std::map<uint32_t, std::vector<Transfer>>; // by communicator
} // namespace

static Transfers transfersOf(const Program &program, const RankProgram &rank, const Entry &entry) {
  Transfers result;
  for (const Row *row : *entry.rows()) {
    if (row->kind() != RowKind::Body) {
      const Message *message = rank.messages()->Get(row->index());
      result[message->communicator()].push_back({message, nullptr, rank.stage(), row->microbatch()});
      continue;
    }
    for (const Instruction *instruction : *rank.bodies()->Get(row->index())->instructions())
      if (isCollective(instruction->op()) &&
          spansStages(program, *program.communicators()->Get(instruction->communicator())))
        result[instruction->communicator()].push_back({nullptr, instruction, rank.stage(), row->microbatch()});
  }
  return result;
}

static void compare(CheckContext &context, uint32_t index, const std::string &entry, std::vector<Transfers> &ofStage) {
  const Communicator &communicator = *context.program.communicators()->Get(index);
  int first = -1;
  for (uint32_t stage = 0; stage < context.stages; ++stage) {
    if (!memberCount(context.program, communicator, stage))
      continue;
    if (first < 0) {
      first = static_cast<int>(stage);
      continue;
    }
    const std::vector<Transfer> &a = ofStage[first][index], &b = ofStage[stage][index];
    if (a.size() != b.size())
      context.fault("entry '{}': stage {} has {} transfers on '{}', stage {} has {}", entry, first, a.size(),
                    communicator.name()->str(), stage, b.size());
    for (size_t i = 0; i < std::min(a.size(), b.size()); ++i)
      if (!a[i].matches(b[i])) {
        context.fault("entry '{}': transfer {} on '{}' is {} on one end, {} on the other", entry, i,
                      communicator.name()->str(), a[i].text(context.program), b[i].text(context.program));
        break;
      }
  }
}

void checkAcrossStages(CheckContext &context) {
  const Program &program = context.program;
  std::set<std::string> names;
  for (const RankProgram *rank : *program.ranks())
    for (const Entry *entry : *rank->entries())
      names.insert(entry->name()->str());
  if (!names.count(trainEntry))
    context.fault("no entry '{}', expected one", trainEntry);
  for (const std::string &name : names) {
    std::vector<Transfers> ofStage(context.stages);
    std::set<uint32_t> used;
    bool everywhere = true;
    for (const RankProgram *rank : *program.ranks()) {
      const Entry *found = nullptr;
      for (const Entry *entry : *rank->entries())
        if (entry->name()->str() == name)
          found = entry;
      if (!found) {
        context.fault("entry '{}' is missing on stage {}", name, rank->stage());
        everywhere = false;
        continue;
      }
      ofStage[rank->stage()] = transfersOf(program, *rank, *found);
      for (const auto &[communicator, transfers] : ofStage[rank->stage()])
        used.insert(communicator);
    }
    for (uint32_t communicator : used)
      if (everywhere)
        compare(context, communicator, name, ofStage);
  }
}

} // namespace hocket::program
