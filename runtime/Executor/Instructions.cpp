// The instructions of a body: kernels, matrix products, collectives, and what runs beside them.
#include "runtime/Executor/InstructionCalls.h"
#include "runtime/Executor/StepRunner.h"
#include "runtime/Program/OpKinds.h"
#include <cstring>
#include <fmt/format.h>

namespace hocket::runtime {

Status StepRunner::runBody(const program::Row &row) {
  const program::Body &body = *context.own.bodies()->Get(row.index());
  for (auto &stream : bodyStreams)
    stream->beginBody();
  for (uint32_t i = 0; i < body.instructions()->size(); ++i) {
    const program::Instruction &instruction = *body.instructions()->Get(i);
    context.status.heartbeat.fetch_add(1, std::memory_order_relaxed);
    if (instruction.stream() && instruction.op() != program::Op::Await) {
      startOnStream(instruction, i, row);
      continue;
    }
    Trace::Time begin = context.trace ? Trace::now() : Trace::Time();
    double processor = context.trace ? Trace::processorMicroseconds() : 0;
    Status ran = instruction.op() == program::Op::Await ? await(instruction, i, row) : runHere(instruction, i, row);
    if (!ran)
      return ran;
    if (context.trace)
      context.trace->add({context.text(instruction.what()), 0, row.microbatch(), step, begin, Trace::now(),
                          Trace::processorMicroseconds() - processor, evaluation});
  }
  if (context.trace)
    traceStreams(row);
  context.status.heartbeat.fetch_add(1, std::memory_order_relaxed);
  context.status.state.store(RankState::Computing, std::memory_order_release);
  return {};
}

void StepRunner::publishInstruction(const program::Instruction &instruction, uint32_t index) {
  RankStatus &status = context.status;
  constexpr auto relaxed = std::memory_order_relaxed;
  bool collective = program::isCollective(instruction.op());
  status.instruction.store(index, relaxed);
  status.communicator.store(
      collective ? context.communicators[instruction.communicator()]->group().id : RankStatus::none, relaxed);
  status.state.store(collective ? RankState::InCollective : RankState::Computing, std::memory_order_release);
}

Status StepRunner::runHere(const program::Instruction &instruction, uint32_t index, const program::Row &row) {
  publishInstruction(instruction, index);
  if (Status ran = runInstruction(instruction, row); !ran)
    return explain(std::move(ran.error()), row, context.text(instruction.what()), instruction.source());
  if (finite && finite->covers(*context.own.bodies()->Get(row.index())))
    if (Status sound = finite->written(instruction, pointers); !sound)
      return explain(std::move(sound.error()), row, context.text(instruction.what()), instruction.source());
  return {};
}

// What runs there touches nothing of this object that stream 0 changes before it has awaited it.
void StepRunner::startOnStream(const program::Instruction &instruction, uint32_t index, const program::Row &row) {
  size_t place = instruction.stream() - 1u;
  bool looks = finite && finite->covers(*context.own.bodies()->Get(row.index()));
  auto work = [this, &instruction, &row, looks, at = addressesOf(context, instruction, row),
               handle = deviceStreams[place]->handle(), stream = deviceStreams[place].get()]() -> Status {
    context.stall.apply(step);
    Status ran = program::isCollective(instruction.op())
                     ? callCollective(context, instruction, at[0], at[1], {deadlineIn(context.waitSeconds), handle})
                     : context.device.copy(*stream, at[1], at[0], instruction.buffers()->Get(0)->bytes());
    if (ran && looks)
      ran = finite->written(instruction, at);
    context.status.heartbeat.fetch_add(1, std::memory_order_relaxed);
    if (!ran)
      return explain(std::move(ran.error()), row, context.text(instruction.what()), instruction.source());
    return {};
  };
  bodyStreams[place]->start(index, std::move(work));
}

// Says meanwhile what the stream is in: that is what the rank waits for.
Status StepRunner::await(const program::Instruction &instruction, uint32_t index, const program::Row &row) {
  constexpr std::chrono::microseconds streaming{1000};
  BodyStream &stream = *bodyStreams[instruction.stream() - 1u];
  const auto &instructions = *context.own.bodies()->Get(row.index())->instructions();
  Trace::Time since = Trace::now();
  BodyStream::State state = stream.finished(instruction.awaited(), std::chrono::microseconds(0));
  while (state == BodyStream::State::Waiting) {
    uint32_t current = stream.current().value_or(index);
    publishInstruction(*instructions[current], current);
    progressInCollective();
    if (messageError)
      return *messageError;
    state = stream.finished(instruction.awaited(), streaming);
  }
  addWaited(since);
  if (state == BodyStream::State::Failed)
    return stream.error();
  return {};
}

void StepRunner::traceStreams(const program::Row &row) {
  const program::Body &body = *context.own.bodies()->Get(row.index());
  for (size_t place = 0; place < bodyStreams.size(); ++place)
    for (const BodyStream::Ran &ran : bodyStreams[place]->take())
      context.trace->add({context.text(body.instructions()->Get(ran.instruction)->what()),
                          static_cast<uint8_t>(Trace::firstBodyStream + place), row.microbatch(), step, ran.begin,
                          ran.end, ran.processorMicroseconds, evaluation});
}

Status StepRunner::runInstruction(const program::Instruction &instruction, const program::Row &row) {
  pointers = addressesOf(context, instruction, row);
  if (instruction.op() == program::Op::Kernel) {
    arguments = scalarsOf(context, instruction);
    int64_t tiles = static_cast<int64_t>(context.program.kernels()->Get(instruction.kernel())->tiles());
    return context.device.launch(*computeStream, {context.kernels[instruction.kernel()], pointers, arguments, tiles});
  }
  if (instruction.op() == program::Op::Gemm) {
    Status ran = context.device.gemm(*computeStream, gemmOf(instruction), gemmBuffers(instruction, pointers));
    if (std::string_view poison = context.poison.due(instruction, step); !poison.empty())
      std::memcpy(pointers[2], poison.data(), poison.size());
    return ran;
  }
  if (instruction.op() == program::Op::Transfer)
    return context.device.copy(*computeStream, pointers[1], pointers[0], instruction.buffers()->Get(0)->bytes());
  Trace::Time since = Trace::now();
  Status joined = callCollective(context, instruction, pointers[0], pointers[1],
                                 {deadlineIn(context.waitSeconds), computeStream->handle()});
  addWaited(since);
  return joined;
}

} // namespace hocket::runtime
