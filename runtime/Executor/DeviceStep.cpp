// The pass as a whole: order, events, graph, end. What single instructions become is in DeviceInstructions.cpp.
#include "runtime/Executor/DeviceStep.h"
#include "runtime/Executor/InstructionCalls.h"
#include "runtime/Executor/NumberOfRank.h"
#include "runtime/Executor/Variables.h"
#include "runtime/Program/IssueOrder.h"
#include <algorithm>
#include <fmt/format.h>

namespace hocket::runtime {

DeviceStep::DeviceStep(RankContext &context, const program::Entry &entry)
    : context(context), entry(entry), order(program::issueOrder(entry)), waits(entry.rows()->size()),
      progress(context, entry), rowEvents(entry.rows()->size()), trace(context, entry),
      droppedWait(numberOfRank(dropWaitVariable, context.rank)),
      strayKernel(numberOfRank(strayVariable, context.rank)) {
  findWaits();
  if (context.checkFinite)
    finite.emplace(context);
}

DeviceStep::~DeviceStep() { context.device.nameMarks({}); }

// By the rows of each stream that are known to be done when a row runs, over all waits so far in the order of issue.
void DeviceStep::findWaits() {
  using Done = std::vector<uint32_t>;
  size_t count = entry.streams()->size();
  std::vector<std::vector<uint32_t>> rowsOf(count);
  for (uint32_t i = 0; i < entry.rows()->size(); ++i)
    rowsOf[entry.rows()->Get(i)->stream()].push_back(i);
  std::vector<Done> byStream(count, Done(count)), after(entry.rows()->size(), Done(count));
  for (uint32_t row : order) {
    const program::Row &at = *entry.rows()->Get(row);
    Done &done = byStream[at.stream()];
    auto awaited = [&](uint32_t other) { return rowsOf[other][at.wait()->Get(other) - 1]; };
    std::vector<uint32_t> open; // streams
    for (uint32_t other = 0; other < count; ++other)
      if (other != at.stream() && at.wait()->Get(other) > done[other])
        open.push_back(other);
    for (uint32_t stream : open) {
      bool implied = std::any_of(open.begin(), open.end(), [&](uint32_t other) {
        return other != stream && after[awaited(other)][stream] >= at.wait()->Get(stream);
      });
      if (implied)
        continue;
      waits[row].rows.push_back(awaited(stream));
      ++waits[awaited(stream)].waiters;
    }
    for (uint32_t before : waits[row].rows)
      for (uint32_t other = 0; other < count; ++other)
        done[other] = std::max(done[other], after[before][other]);
    ++done[at.stream()];
    after[row] = done;
  }
}

Status DeviceStep::prepare() {
  size_t count = entry.streams()->size() + (context.own.bodyStreams() ? context.own.bodyStreams()->size() : 0);
  for (size_t i = 0; i < count; ++i) {
    Result<std::unique_ptr<Stream>> made = context.device.stream();
    if (!made)
      return std::move(made.error());
    streams.push_back(std::move(*made));
  }
  streamed.resize(count - entry.streams()->size());
  Result<std::unique_ptr<Event>> made = context.device.event();
  if (!made)
    return std::move(made.error());
  end = std::move(*made);
  return progress.prepare(streams);
}

// ---- a pass ---------------------------------------------------------------------------------------------------------
Status DeviceStep::run(uint64_t number, uint64_t evaluationBatch) {
  step = number;
  evaluation = evaluationBatch;
  if (streams.empty())
    if (Status prepared = prepare(); !prepared)
      return failed(std::move(prepared.error()));
  progress.beginPass();
  context.device.nameMarks([this](const uint32_t *word, uint32_t value) {
    std::optional<DeviceProgress::Place> at = progress.placeOf(word, value);
    return at ? placeOf(at->row, at->instruction) : std::string();
  });
  Status queued;
  if (!graph && passes > 0 && mayCapture())
    queued = capture();
  if (queued)
    queued = graph ? context.device.launch(*streams[0], *graph) : queuePass();
  if (queued && context.calls)
    queued = context.calls->pass(step, evaluation, graph ? "graph" : "queued", waitsQueued);
  if (queued)
    queued = drain(*streams[0]);
  if (queued)
    queued = trace.collect(step, evaluation);
  ++passes;
  return queued ? Status() : failed(std::move(queued.error()));
}

bool DeviceStep::mayCapture() const {
  const char *wanted = std::getenv(graphVariable);
  if (context.checkFinite || context.poison.waits() || context.stall.waits() || context.trace ||
      (wanted && std::string_view(wanted) == "0"))
    return false;
  uint64_t nodes = 0;
  for (const program::Row *row : *entry.rows())
    nodes +=
        row->kind() == program::RowKind::Body ? context.own.bodies()->Get(row->index())->instructions()->size() + 2 : 3;
  return nodes <= mostGraphNodes;
}

Status DeviceStep::capture() {
  if (Status begun = context.device.beginCapture(*streams[0]); !begun)
    return begun;
  capturing = true;
  Status queued = queuePass();
  capturing = false;
  Result<std::unique_ptr<Graph>> made = context.device.endCapture(*streams[0]);
  if (!queued)
    return queued;
  if (!made)
    return std::move(made.error()).in("the step as a graph (HOCKET_GRAPH=0 runs without)");
  graph = std::move(*made);
  return {};
}

Status DeviceStep::queuePass() {
  waitsQueued = kernelsQueued = 0;
  progress.beginQueueing(/*everyInstruction=*/!capturing || context.device.name() == "emulator");
  for (auto &event : rowEvents)
    event.reset();
  for (Streamed &stream : streamed)
    stream.behind = false;
  if (Status together = startTogether(); !together)
    return together;
  for (uint32_t row : order)
    if (Status queued = queueRow(row); !queued)
      return queued;
  return joinAll();
}

Status DeviceStep::queueRow(uint32_t index) {
  const program::Row &row = *entry.rows()->Get(index);
  Stream &stream = *streams[row.stream()];
  for (uint32_t before : waits[index].rows) {
    if (!rowEvents[before])
      return Error{
          ErrorKind::Invalid, fmt::format("row {} is issued before row {}, for which it waits", index, before), {}};
    if (Status waited = wait(stream, *rowEvents[before], index); !waited)
      return waited;
  }
  if (row.stream() == 0 && !waits[index].rows.empty())
    computeWent();
  if (Status marked = progress.begin(row.stream(), index); !marked)
    return marked;
  if (Status queued = row.kind() == program::RowKind::Body ? queueBody(index) : queueMessage(index); !queued)
    return queued;
  if (Status marked = progress.end(row.stream(), index); !marked)
    return marked;
  return waits[index].waiters ? after(stream, rowEvents[index]) : Status();
}

// Every stream begins after what compute has done so far; a capture needs it, and it costs little.
Status DeviceStep::startTogether() {
  std::unique_ptr<Event> begin;
  if (Status recorded = after(*streams[0], begin); !recorded)
    return recorded;
  if (Status began = trace.origin(*streams[0]); !began)
    return began;
  for (size_t i = 1; i < streams.size(); ++i)
    if (Status waited = context.device.wait(*streams[i], *begin); !waited)
      return waited;
  spare.push_back(std::move(begin));
  return {};
}

Status DeviceStep::joinAll() {
  for (size_t i = 1; i < streams.size(); ++i) {
    std::unique_ptr<Event> last;
    if (Status recorded = after(*streams[i], last); !recorded)
      return recorded;
    if (Status waited = context.device.wait(*streams[0], *last); !waited)
      return waited;
    spare.push_back(std::move(last));
  }
  for (auto &event : rowEvents)
    if (event)
      spare.push_back(std::move(event));
  return {};
}

// ---- events ---------------------------------------------------------------------------------------------------------
// An event is used again once all who wait for it are queued: a wait is for the last record before it.
Result<std::unique_ptr<Event>> DeviceStep::takeEvent() {
  if (spare.empty())
    return context.device.event();
  std::unique_ptr<Event> event = std::move(spare.back());
  spare.pop_back();
  return event;
}

Status DeviceStep::after(Stream &stream, std::unique_ptr<Event> &event) {
  Result<std::unique_ptr<Event>> taken = takeEvent();
  if (!taken)
    return std::move(taken.error());
  event = std::move(*taken);
  return context.device.record(stream, *event);
}

Status DeviceStep::wait(Stream &stream, Event &event, uint32_t row, uint32_t instruction) {
  if (++waitsQueued != droppedWait)
    return context.device.wait(stream, event);
  if (context.calls)
    context.calls->leftOut(droppedWait, placeOf(row, instruction));
  return {};
}

// ---- the end --------------------------------------------------------------------------------------------------------
// Until everything that a stream has is done. Meanwhile it says where the device is, and looks for errors of peers.
Status DeviceStep::drain(Stream &stream) {
  if (Status recorded = context.device.record(stream, *end); !recorded)
    return recorded;
  constexpr uint64_t looksAtOnce = 64; // before it lets others have the processor
  Deadline deadline = deadlineIn(context.waitSeconds);
  for (uint64_t looks = 1;; ++looks) {
    Result<bool> complete = context.device.complete(*end);
    if (!complete)
      return std::move(complete.error());
    if (progress.look())
      deadline = deadlineIn(context.waitSeconds);
    if (*complete)
      return {};
    if (looks % looksAtOnce)
      continue;
    if (Status waited = context.world.waitForMessages(deadlineIn(50e-6));
        !waited && waited.error().kind != ErrorKind::Timeout)
      return waited;
    if (std::chrono::steady_clock::now() >= deadline)
      return Error{ErrorKind::Timeout, fmt::format("nothing moved for {} s", context.waitSeconds), {}};
  }
}

// Compute has more before it, which none of its body streams is after yet, but for one that was the cause.
void DeviceStep::computeWent(size_t except) {
  for (size_t i = 0; i < streamed.size(); ++i)
    streamed[i].behind |= i != except;
}

std::string DeviceStep::placeOf(uint32_t row, uint32_t instruction) const {
  const program::Row &at = *entry.rows()->Get(row);
  std::string place = placeText(context, at, step, evaluation);
  if (at.kind() != program::RowKind::Body) {
    const program::Message &message = *context.own.messages()->Get(at.index());
    place += fmt::format(", {} ({})", message.name()->string_view(), context.text(message.source()));
  } else if (instruction != RankStatus::none) {
    const program::Instruction &running = *context.own.bodies()->Get(at.index())->instructions()->Get(instruction);
    place += fmt::format(", {} ({})", context.text(running.what()), context.text(running.source()));
  }
  return place;
}

Error DeviceStep::explain(Error error, uint32_t row, uint32_t instruction) const {
  return std::move(error).in(placeOf(row, instruction));
}

// What fails while it runs comes without a place: that is where compute is. A fault of the device is this rank's, not
// the input's.
Error DeviceStep::failed(Error error) const {
  progress.look();
  if (error.kind == ErrorKind::Aborted)
    return error;
  if (error.kind == ErrorKind::Invalid)
    error.kind = ErrorKind::Mismatch;
  if (error.message.starts_with(passText(step, evaluation)))
    return error;
  std::optional<DeviceProgress::Place> at = progress.place();
  return at ? explain(std::move(error), at->row, at->instruction) : std::move(error).in(passText(step, evaluation));
}

} // namespace hocket::runtime
