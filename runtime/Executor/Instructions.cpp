// The instructions of a body: kernels, matrix products, collectives.
#include "runtime/Executor/StepRunner.h"
#include "runtime/Program/OpKinds.h"
#include <fmt/format.h>

namespace hocket::runtime {

Status StepRunner::runBody(const program::Row &row) {
  const program::Body &body = *context.own.bodies()->Get(row.index());
  RankStatus &status = context.status;
  constexpr auto relaxed = std::memory_order_relaxed;
  for (uint32_t i = 0; i < body.instructions()->size(); ++i) {
    const program::Instruction &instruction = *body.instructions()->Get(i);
    bool collective = program::isCollective(instruction.op());
    status.instruction.store(i, relaxed);
    status.communicator.store(
        collective ? context.communicators[instruction.communicator()]->group().id : RankStatus::none, relaxed);
    status.state.store(collective ? RankState::InCollective : RankState::Computing, std::memory_order_release);
    status.heartbeat.fetch_add(1, relaxed);
    Trace::Time begin = context.trace ? Trace::now() : Trace::Time();
    if (Status ran = runInstruction(instruction, row); !ran)
      return explain(std::move(ran.error()), row, context.text(instruction.what()), instruction.source());
    if (finite && finite->covers(body))
      if (Status sound = finite->written(instruction, pointers); !sound)
        return explain(std::move(sound.error()), row, context.text(instruction.what()), instruction.source());
    if (context.trace)
      context.trace->add({context.text(instruction.what()), 0, row.microbatch(), step, begin, Trace::now()});
  }
  status.heartbeat.fetch_add(1, relaxed);
  status.state.store(RankState::Computing, std::memory_order_release);
  return {};
}

static GemmType gemmType(program::DType type) {
  return type == program::DType::BF16 ? GemmType::BF16 : type == program::DType::F16 ? GemmType::F16 : GemmType::F32;
}

static Gemm gemmOf(const program::Instruction &instruction) {
  const program::Gemm &from = *instruction.gemm();
  Gemm result;
  result.type = gemmType(instruction.type());
  result.resultType = gemmType(instruction.resultType());
  result.transA = from.transA();
  result.transB = from.transB();
  result.accumulate = from.accumulate();
  result.m = static_cast<int64_t>(from.m());
  result.n = static_cast<int64_t>(from.n());
  result.k = static_cast<int64_t>(from.k());
  result.lda = static_cast<int64_t>(from.lda());
  result.ldb = static_cast<int64_t>(from.ldb());
  result.ldc = static_cast<int64_t>(from.ldc());
  result.batch = static_cast<int64_t>(from.batch());
  result.strideA = static_cast<int64_t>(from.strideA());
  result.strideB = static_cast<int64_t>(from.strideB());
  result.strideC = static_cast<int64_t>(from.strideC());
  return result;
}

Status StepRunner::runInstruction(const program::Instruction &instruction, const program::Row &row) {
  pointers.clear();
  if (instruction.buffers())
    for (const program::Buffer *buffer : *instruction.buffers())
      pointers.push_back(context.address(*buffer, row.microbatch(), row.slot()));
  if (instruction.op() == program::Op::Kernel) {
    arguments.clear();
    if (instruction.scalars())
      for (uint32_t scalar : *instruction.scalars())
        arguments.push_back(context.scalars[scalar]);
    int64_t tiles = static_cast<int64_t>(context.program.kernels()->Get(instruction.kernel())->tiles());
    return context.device.launch(*computeStream, {context.kernels[instruction.kernel()], pointers, arguments, tiles});
  }
  if (instruction.op() == program::Op::Gemm) {
    Status ran = context.device.gemm(*computeStream, gemmOf(instruction), pointers[0], pointers[1], pointers[2]);
    context.poison.apply(instruction, step, pointers[2]);
    return ran;
  }
  Trace::Time since = Trace::now();
  Status joined =
      runCollective(instruction, pointers[0], pointers[1], {deadlineIn(context.waitSeconds), computeStream->handle()});
  addWaited(since);
  return joined;
}

Status StepRunner::runCollective(const program::Instruction &instruction, void *in, void *out, When when) {
  Communicator &on = *context.communicators[instruction.communicator()];
  ElementType type = elementType(instruction.type());
  auto reduction = static_cast<Reduction>(instruction.reduction());
  uint64_t inCount = instruction.buffers()->Get(0)->bytes() / sizeBytes(type);
  uint64_t members = static_cast<uint64_t>(on.size());
  switch (instruction.op()) {
  case program::Op::AllReduce:
    return on.allReduce(in, out, inCount, type, reduction, when);
  case program::Op::ReduceScatter:
    return on.reduceScatter(in, out, inCount / members, type, reduction, when);
  case program::Op::AllGather:
    return on.allGather(in, out, inCount, type, when);
  case program::Op::Shift:
    return shift(on, in, out, inCount, type, when);
  default:
    return on.allToAll(in, out, inCount / members, type, when);
  }
}

} // namespace hocket::runtime
