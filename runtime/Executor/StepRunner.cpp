// The loop over rows: streams, waits, messages. Instructions of bodies are in Instructions.cpp.
#include "runtime/Executor/StepRunner.h"
#include "runtime/Executor/InstructionCalls.h"
#include <algorithm>
#include <fmt/format.h>

namespace hocket::runtime {

StepRunner::StepRunner(RankContext &context, const program::Entry &entry)
    : context(context), entry(entry), streams(entry.streams()->size()) {
  for (uint32_t i = 0; i < entry.rows()->size(); ++i)
    streams[entry.rows()->Get(i)->stream()].rows.push_back(i);
  if (context.checkFinite)
    finite.emplace(context);
}

const program::Row &StepRunner::head(const StreamState &stream) const {
  return *entry.rows()->Get(stream.rows[stream.done]);
}

bool StepRunner::ready(const StreamState &stream) const {
  if (finished(stream))
    return false;
  const program::Row &row = head(stream);
  for (uint32_t other = 0; other < streams.size(); ++other)
    if (streams[other].done < row.wait()->Get(other))
      return false;
  return true;
}

Status StepRunner::run(uint64_t number, uint64_t evaluationBatch) {
  step = number;
  evaluation = evaluationBatch;
  for (StreamState &stream : streams)
    stream.done = 0;
  if (!computeStream) {
    Result<std::unique_ptr<Stream>> made = context.device.stream();
    if (!made)
      return std::move(made.error());
    computeStream = std::move(*made);
    for (uint32_t i = 0; context.own.bodyStreams() && i < context.own.bodyStreams()->size(); ++i) {
      Result<std::unique_ptr<Stream>> stream = context.device.stream();
      if (!stream)
        return std::move(stream.error());
      deviceStreams.push_back(std::move(*stream));
      bodyStreams.push_back(std::make_unique<BodyStream>());
    }
  }
  context.world.whileWaiting([this] { return progressInCollective(); });
  Status ran = runRows();
  if (!ran)
    endBodyStreams(ran.error());
  context.world.whileWaiting({});
  return ran && context.calls ? context.calls->pass(step, evaluation, "run") : ran;
}

// After a fault of this rank's own nothing would end the collectives that other threads of it still wait in, until
// their time is up; the rank ends its run as its host is about to (RankHost::fail), with the same words.
void StepRunner::endBodyStreams(const Error &error) {
  bool busy = std::any_of(bodyStreams.begin(), bodyStreams.end(), [](auto &stream) { return stream->busy(); });
  if (busy && error.kind != ErrorKind::Aborted) {
    context.status.fail(error.message);
    context.world.abort(error.message);
  }
  bodyStreams.clear();
}

// Called by the communicator. True while a message stream has rows left.
bool StepRunner::progressInCollective() {
  Result<bool> moved = advanceMessages();
  if (!moved) {
    messageError = std::move(moved.error());
    return false;
  }
  return std::any_of(streams.begin() + 1, streams.end(), [this](const StreamState &s) { return !finished(s); });
}

Status StepRunner::runRows() {
  Deadline deadline = deadlineIn(context.waitSeconds);
  for (;;) {
    Result<bool> moved = advanceMessages();
    if (!moved)
      return std::move(moved.error());
    StreamState &compute = streams[0];
    if (ready(compute)) {
      const program::Row &row = head(compute);
      publish(RankState::Computing, row, compute.rows[compute.done]);
      if (Status ran = runBody(row); !ran)
        return ran;
      ++compute.done;
      moved = true;
    }
    if (*moved) {
      deadline = deadlineIn(context.waitSeconds);
      continue;
    }
    bool all = true;
    for (const StreamState &stream : streams)
      all &= finished(stream);
    if (all)
      return {};
    publishWait();
    if (Status slept = sleep(deadline); !slept)
      return slept;
  }
}

Result<bool> StepRunner::advanceMessages() {
  if (messageError)
    return *messageError;
  bool moved = false;
  for (size_t i = 1; i < streams.size(); ++i) {
    StreamState &stream = streams[i];
    for (;;) {
      if (stream.posted) {
        const program::Row &row = head(stream);
        const program::Message &message = *context.own.messages()->Get(row.index());
        Result<bool> complete = stream.posted->test();
        if (!complete)
          return explain(std::move(complete.error()), row, message.name()->string_view(), message.source());
        if (!*complete)
          break;
        stream.posted.reset();
        ++stream.done;
        context.status.heartbeat.fetch_add(1, std::memory_order_relaxed);
        if (context.trace)
          context.trace->add({message.name()->string_view(), row.stream(), row.microbatch(), step, stream.begin,
                              Trace::now(), 0, evaluation});
        moved = true;
      }
      if (!ready(stream))
        break;
      if (Status posted = post(stream); !posted)
        return std::move(posted.error());
      moved = true;
    }
  }
  return moved;
}

Status StepRunner::post(StreamState &stream) {
  const program::Row &row = head(stream);
  const program::Message &message = *context.own.messages()->Get(row.index());
  stream.begin = Trace::now();
  Result<std::unique_ptr<Request>> made = postMessage(context, row);
  if (!made)
    return explain(std::move(made.error()), row, message.name()->string_view(), message.source());
  stream.posted = std::move(*made);
  return {};
}

Status StepRunner::sleep(Deadline deadline) {
  if (std::chrono::steady_clock::now() >= deadline)
    return Error{ErrorKind::Timeout,
                 fmt::format("{}: no message arrived within {} s", passText(step, evaluation), context.waitSeconds),
                 {}};
  Trace::Time since = Trace::now();
  Status waited = context.world.waitForMessages(deadline);
  addWaited(since);
  return waited;
}

void StepRunner::addWaited(Trace::Time since) {
  auto nanoseconds = std::chrono::duration_cast<std::chrono::nanoseconds>(Trace::now() - since).count();
  context.status.waited.fetch_add(static_cast<uint64_t>(nanoseconds), std::memory_order_relaxed);
}

void StepRunner::publish(RankState state, const program::Row &row, uint32_t rowIndex) {
  RankStatus &status = context.status;
  constexpr auto relaxed = std::memory_order_relaxed;
  status.row.store(rowIndex, relaxed);
  status.microbatch.store(row.microbatch(), relaxed);
  status.instruction.store(RankStatus::none, relaxed);
  if (row.kind() == program::RowKind::Body) {
    status.body.store(row.index(), relaxed);
    status.communicator.store(RankStatus::none, relaxed);
  } else {
    status.body.store(RankStatus::none, relaxed);
    uint32_t communicator = context.own.messages()->Get(row.index())->communicator();
    status.communicator.store(context.communicators[communicator]->group().id, relaxed);
  }
  status.state.store(state, std::memory_order_release);
}

// Says which message the rank waits for: the one that stream 0, directly or over other streams, cannot go on without.
void StepRunner::publishWait() {
  size_t at = 0;
  for (size_t hops = 0; hops <= streams.size() && !streams[at].posted; ++hops) {
    size_t next = at;
    for (size_t other = 0; other < streams.size(); ++other) {
      bool blocks = finished(streams[at])
                        ? !finished(streams[other])
                        : streams[other].done < head(streams[at]).wait()->Get(static_cast<uint32_t>(other));
      if (blocks && other != at) {
        next = other;
        break;
      }
    }
    if (next == at)
      return;
    at = next;
  }
  if (!streams[at].posted)
    return;
  const program::Row &row = head(streams[at]);
  publish(row.kind() == program::RowKind::Send ? RankState::Sending : RankState::Receiving, row,
          streams[at].rows[streams[at].done]);
}

Error StepRunner::explain(Error error, const program::Row &row, std::string_view what, uint32_t source) const {
  return std::move(error).in(
      fmt::format("{}, {} ({})", placeText(context, row, step, evaluation), what, context.text(source)));
}

} // namespace hocket::runtime
