// Bodies and messages of a device's pass, queued.
#include "runtime/Executor/DeviceStep.h"
#include "runtime/Executor/InstructionCalls.h"
#include "runtime/Program/CallGroups.h"
#include "runtime/Program/OpKinds.h"

namespace hocket::runtime {

Status DeviceStep::queueMessage(uint32_t index) {
  const program::Row &row = *entry.rows()->Get(index);
  Stream &stream = *streams[row.stream()];
  if (Status began = trace.begin(stream, row.stream(), index, RankStatus::none); !began)
    return began;
  Result<std::unique_ptr<Request>> posted = postMessage(context, row, stream.handle());
  if (!posted)
    return explain(std::move(posted.error()), index, RankStatus::none);
  return trace.end(stream);
}

Status DeviceStep::queueBody(uint32_t index) {
  for (Streamed &stream : streamed) {
    for (auto &event : stream.events)
      spare.push_back(std::move(event));
    stream.events.clear();
    stream.awaited = stream.wanted = 0;
  }
  const program::Body &body = *context.own.bodies()->Get(entry.rows()->Get(index)->index());
  for (uint32_t i = 0, end; i < body.instructions()->size(); i = end) {
    const program::Instruction &instruction = *body.instructions()->Get(i);
    end = program::endOfGroup(context.program, body, i);
    bool elsewhere = instruction.stream() && instruction.op() != program::Op::Await;
    if (Status queued = elsewhere ? queueOnStream(index, i, end) : queueInstruction(index, i, end); !queued)
      return explain(std::move(queued.error()), index, i);
  }
  return catchUp(index);
}

// On stream 0. More than one only of collectives that are issued together; what is told of them is the first.
Status DeviceStep::queueInstruction(uint32_t row, uint32_t index, uint32_t end) {
  const program::Row &at = *entry.rows()->Get(row);
  const program::Instruction &instruction = *context.own.bodies()->Get(at.index())->instructions()->Get(index);
  if (instruction.op() == program::Op::Await) {
    queueAwait(row, index);
    return {};
  }
  if (Status ready = catchUp(row); !ready)
    return ready;
  Stream &compute = *streams[0];
  std::vector<void *> buffers = addressesOf(context, instruction, at);
  if (Status marked = progress.begin(0, row, index); !marked)
    return marked;
  if (Status began = trace.begin(compute, 0, row, index); !began)
    return began;
  computeWent();
  Status queued;
  switch (instruction.op()) {
  case program::Op::Kernel:
    queued = queueKernel(instruction, buffers);
    break;
  case program::Op::Gemm:
    queued = queueProduct(instruction, buffers);
    break;
  case program::Op::Transfer:
    queued = context.device.copy(compute, buffers[1], buffers[0], instruction.buffers()->Get(0)->bytes());
    break;
  default:
    queued = queueCollectives(row, index, end, compute);
  }
  if (queued)
    queued = trace.end(compute);
  if (queued && program::isCollective(instruction.op()))
    queued = progress.begin(0, row); // the row goes on
  for (uint32_t i = index; queued && i < end; ++i)
    queued = lookAt(row, i, compute);
  return queued;
}

// A step kernel is one or more launches, one after another, all with the same parameters.
Status DeviceStep::queueKernel(const program::Instruction &instruction, std::span<void *const> buffers) {
  std::vector<int64_t> scalars = scalarsOf(context, instruction);
  const GpuKernel &kernel = context.gpuKernels[instruction.kernel()];
  std::vector<void *> given(buffers.begin(), buffers.end());
  if (++kernelsQueued == strayKernel && !given.empty())
    given.back() = context.arena + context.own.arenaBytes();
  for (const GpuKernel::Launch &one : kernel.launches) {
    Launch launch{one.function, given, scalars, 1, one.shape, kernel.scratch ? context.scratch() : nullptr};
    if (Status launched = context.device.launch(*streams[0], launch); !launched)
      return launched;
  }
  return {};
}

Status DeviceStep::queueProduct(const program::Instruction &instruction, std::span<void *const> buffers) {
  Stream &compute = *streams[0];
  Status queued = context.device.gemm(compute, gemmOf(instruction), gemmBuffers(instruction, buffers));
  if (!queued)
    return queued;
  std::string_view poison = context.poison.due(instruction, step);
  return poison.empty() ? Status() : context.device.copy(compute, buffers[2], poison.data(), poison.size());
}

Status DeviceStep::queueCollectives(uint32_t row, uint32_t first, uint32_t end, Stream &stream) {
  const program::Row &at = *entry.rows()->Get(row);
  When when(deadlineIn(context.waitSeconds), stream.handle());
  auto call = [&] {
    Status called;
    for (uint32_t i = first; called && i < end; ++i) {
      const program::Instruction &instruction = *context.own.bodies()->Get(at.index())->instructions()->Get(i);
      std::vector<void *> buffers = addressesOf(context, instruction, at);
      called = callCollective(context, instruction, buffers[0], buffers[1], when);
    }
    return called;
  };
  if (end == first + 1)
    return call();
  if (context.calls)
    context.calls->beginGroup();
  Status called = context.world.together(call, when.deadline);
  if (context.calls)
    context.calls->endGroup();
  return called;
}

// Starts there when all before it on stream 0 and on its own has finished. More than one as on stream 0.
Status DeviceStep::queueOnStream(uint32_t row, uint32_t index, uint32_t end) {
  const program::Row &at = *entry.rows()->Get(row);
  const program::Instruction &instruction = *context.own.bodies()->Get(at.index())->instructions()->Get(index);
  Stream &stream = bodyStream(instruction.stream());
  size_t place = entry.streams()->size() + instruction.stream() - 1u;
  std::vector<void *> buffers = addressesOf(context, instruction, at);
  Streamed &own = streamed[instruction.stream() - 1u];
  if (Status ready = catchUp(row, instruction.stream() - 1u); !ready)
    return ready;
  if (std::exchange(own.behind, false)) {
    std::unique_ptr<Event> here;
    if (Status recorded = after(*streams[0], here); !recorded)
      return recorded;
    if (Status waited = wait(stream, *here, row, index); !waited)
      return waited;
    spare.push_back(std::move(here));
  }
  if (Status stalled = context.stall.apply(step, context.device, stream); !stalled)
    return stalled;
  if (Status marked = progress.begin(place, row, index); !marked)
    return marked;
  if (Status began = trace.begin(stream, Trace::firstBodyStream + instruction.stream() - 1u, row, index); !began)
    return began;
  Status queued = program::isCollective(instruction.op())
                      ? queueCollectives(row, index, end, stream)
                      : context.device.copy(stream, buffers[1], buffers[0], instruction.buffers()->Get(0)->bytes());
  if (queued)
    queued = trace.end(stream);
  if (queued)
    queued = progress.end(place, row);
  for (uint32_t i = index; queued && i < end; ++i)
    queued = after(stream, own.events.emplace_back()); // they are counted one by one
  for (uint32_t i = index; queued && i < end; ++i)
    queued = lookAt(row, i, stream);
  return queued;
}

// The wait itself is put off until compute goes on, so that the last of several on one stream stands for all.
void DeviceStep::queueAwait(uint32_t row, uint32_t index) {
  const program::Body &body = *context.own.bodies()->Get(entry.rows()->Get(row)->index());
  const program::Instruction &instruction = *body.instructions()->Get(index);
  Streamed &stream = streamed[instruction.stream() - 1u];
  if (instruction.awaited() <= stream.wanted)
    return;
  stream.wanted = instruction.awaited();
  stream.wantedBy = index;
}

// Compute waits for all that was awaited, but for what is on a stream that goes on itself.
Status DeviceStep::catchUp(uint32_t row, size_t except) {
  for (size_t i = 0; i < streamed.size(); ++i) {
    Streamed &stream = streamed[i];
    if (i == except || stream.wanted <= stream.awaited)
      continue;
    stream.awaited = stream.wanted;
    computeWent(i);
    Status queued = progress.begin(0, row, stream.wantedBy);
    if (queued)
      queued = trace.begin(*streams[0], 0, row, stream.wantedBy);
    if (queued)
      queued = wait(*streams[0], *stream.events[stream.awaited - 1u], row, stream.wantedBy);
    if (queued)
      queued = trace.end(*streams[0]);
    if (queued)
      queued = progress.begin(0, row); // the row goes on
    if (!queued)
      return queued;
  }
  return {};
}

// --check-finite: the host waits for the instruction, fetches what it wrote, and looks.
Status DeviceStep::lookAt(uint32_t row, uint32_t index, Stream &stream) {
  const program::Row &at = *entry.rows()->Get(row);
  const program::Body &body = *context.own.bodies()->Get(at.index());
  const program::Instruction &instruction = *body.instructions()->Get(index);
  if (!finite || !finite->covers(body) || !instruction.written() || instruction.written()->size() == 0)
    return {};
  std::vector<void *> buffers = addressesOf(context, instruction, at);
  if (Status done = drain(stream); !done)
    return done;
  std::vector<DeviceMemory::Reading> fetched(buffers.size());
  std::vector<void *> copies(buffers.size());
  for (const program::Written *value : *instruction.written()) {
    uint32_t buffer = value->buffer();
    Result<DeviceMemory::Reading> read = context.memory->read(static_cast<const std::byte *>(buffers[buffer]),
                                                              instruction.buffers()->Get(buffer)->bytes());
    if (!read)
      return std::move(read.error());
    fetched[buffer] = std::move(*read);
    copies[buffer] = const_cast<std::byte *>(fetched[buffer].data());
  }
  return finite->written(instruction, copies);
}

} // namespace hocket::runtime
