// See DeviceProgress.h.
#include "runtime/Executor/DeviceProgress.h"
#include "runtime/Program/OpKinds.h"
#include <atomic>
#include <functional>

namespace hocket::runtime {

DeviceProgress::~DeviceProgress() {
  if (words)
    context.device.freeHost(words);
}

Status DeviceProgress::prepare(std::span<const std::unique_ptr<Stream>> of) {
  streams = of;
  Result<void *> memory = context.device.allocateHost(streams.size() * sizeof *words);
  if (!memory)
    return std::move(memory.error());
  words = static_cast<uint32_t *>(*memory);
  seen.resize(streams.size());
  return {};
}

void DeviceProgress::beginPass() {
  for (size_t i = 0; i < seen.size(); ++i)
    std::atomic_ref(words[i]).store(seen[i] = 0);
}

// ---- queued with the work -------------------------------------------------------------------------------------------
void DeviceProgress::beginQueueing(bool every) {
  marks.clear();
  everyInstruction = every;
}

static const program::Instruction *instructionAt(const RankContext &context, const program::Entry &entry, uint32_t row,
                                                 uint32_t instruction) {
  const program::Row &at = *entry.rows()->Get(row);
  if (at.kind() != program::RowKind::Body || instruction == RankStatus::none)
    return nullptr;
  return context.own.bodies()->Get(at.index())->instructions()->Get(instruction);
}

Status DeviceProgress::mark(size_t stream, Mark mark) {
  marks.push_back(mark);
  return context.device.mark(*streams[stream], &words[stream], static_cast<uint32_t>(marks.size()));
}

Status DeviceProgress::begin(size_t stream, uint32_t row, uint32_t instruction) {
  const program::Instruction *at = instructionAt(context, entry, row, instruction);
  bool waits = !at || at->stream() || program::isCollective(at->op());
  return waits || everyInstruction ? mark(stream, {{row, instruction}, true}) : Status();
}

Status DeviceProgress::end(size_t stream, uint32_t row) { return mark(stream, {{row, RankStatus::none}, false}); }

// ---- looked at by the host ------------------------------------------------------------------------------------------
std::optional<DeviceProgress::Mark> DeviceProgress::markOf(size_t stream) const {
  uint32_t word = seen[stream];
  return word && word <= marks.size() ? std::optional(marks[word - 1]) : std::nullopt;
}

std::optional<DeviceProgress::Place> DeviceProgress::placeOf(const uint32_t *word, uint32_t value) const {
  bool own = std::greater_equal<>()(word, words) && std::less<>()(word, words + streams.size());
  return own && value && value <= marks.size() ? std::optional(marks[value - 1].place) : std::nullopt;
}

bool DeviceProgress::look() const {
  bool moved = false;
  for (size_t i = 0; i < seen.size(); ++i) {
    uint32_t word = std::atomic_ref(words[i]).load(std::memory_order_acquire);
    moved |= word != seen[i];
    seen[i] = word;
  }
  if (moved)
    context.status.heartbeat.fetch_add(1, std::memory_order_relaxed);
  if (std::optional<Place> at = place(); at && moved)
    publish(*at);
  return moved;
}

std::optional<DeviceProgress::Place> DeviceProgress::place() const {
  if (seen.empty())
    return {};
  std::optional<Mark> compute = markOf(0);
  if (!compute || !compute->running)
    return message() ? message() : compute ? std::optional(compute->place) : std::nullopt;
  const program::Instruction *at = instructionAt(context, entry, compute->place.row, compute->place.instruction);
  if (at && at->op() == program::Op::Await)
    if (std::optional<Mark> awaited = markOf(entry.streams()->size() + at->stream() - 1u); awaited && awaited->running)
      return awaited->place;
  return compute->place;
}

std::optional<DeviceProgress::Place> DeviceProgress::message() const {
  for (size_t stream = 1; stream < entry.streams()->size(); ++stream)
    if (std::optional<Mark> mark = markOf(stream); mark && mark->running)
      return mark->place;
  return {};
}

void DeviceProgress::publish(const Place &at) const {
  const program::Row &row = *entry.rows()->Get(at.row);
  RankStatus &status = context.status;
  constexpr auto relaxed = std::memory_order_relaxed;
  RankState state = RankState::Computing;
  uint32_t communicator = RankStatus::none, body = RankStatus::none;
  if (row.kind() != program::RowKind::Body) {
    state = row.kind() == program::RowKind::Send ? RankState::Sending : RankState::Receiving;
    communicator = context.own.messages()->Get(row.index())->communicator();
  } else {
    body = row.index();
    const program::Instruction *running = instructionAt(context, entry, at.row, at.instruction);
    if (running && program::isCollective(running->op())) {
      state = RankState::InCollective;
      communicator = running->communicator();
    }
  }
  status.row.store(at.row, relaxed);
  status.microbatch.store(row.microbatch(), relaxed);
  status.body.store(body, relaxed);
  status.instruction.store(at.instruction, relaxed);
  status.communicator.store(
      communicator == RankStatus::none ? communicator : context.communicators[communicator]->group().id, relaxed);
  status.state.store(state, std::memory_order_release);
}

} // namespace hocket::runtime
