// The instructions of a body: kernels, matrix products, collectives.
#include "runtime/Executor/StepRunner.h"
#include <bit>
#include <cmath>
#include <fmt/format.h>

namespace hocket::runtime {

Status StepRunner::runBody(const program::Row &row) {
  const program::Body &body = *context.own.bodies()->Get(row.index());
  RankStatus &status = context.status;
  constexpr auto relaxed = std::memory_order_relaxed;
  for (uint32_t i = 0; i < body.instructions()->size(); ++i) {
    const program::Instruction &instruction = *body.instructions()->Get(i);
    bool collective = instruction.op() > program::Op::Gemm;
    status.instruction.store(i, relaxed);
    status.communicator.store(
        collective ? context.communicators[instruction.communicator()]->group().id : RankStatus::none, relaxed);
    status.state.store(collective ? RankState::InCollective : RankState::Computing, std::memory_order_release);
    status.heartbeat.fetch_add(1, relaxed);
    Trace::Time begin = context.trace ? Trace::now() : Trace::Time();
    if (Status ran = runInstruction(instruction, row); !ran)
      return explain(std::move(ran.error()), row, context.text(instruction.what()), instruction.source());
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
  Status ran;
  if (instruction.op() == program::Op::Kernel) {
    arguments.clear();
    if (instruction.scalars())
      for (uint32_t scalar : *instruction.scalars())
        arguments.push_back(context.scalars[scalar]);
    int64_t tiles = static_cast<int64_t>(context.program.kernels()->Get(instruction.kernel())->tiles());
    return context.device.launch(*computeStream, {context.kernels[instruction.kernel()], pointers, arguments, tiles});
  }
  uint64_t outBytes;
  if (instruction.op() == program::Op::Gemm) {
    ran = context.device.gemm(*computeStream, gemmOf(instruction), pointers[0], pointers[1], pointers[2]);
    context.poison.apply(instruction, step, pointers[2]);
    outBytes = instruction.buffers()->Get(2)->bytes();
  } else {
    ran = runCollective(instruction, pointers[0], pointers[1],
                        {deadlineIn(context.waitSeconds), computeStream->handle()});
    outBytes = instruction.buffers()->Get(1)->bytes();
  }
  if (ran && context.checkFinite)
    return checkFiniteResult(instruction, pointers.back(), outBytes);
  return ran;
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
  default:
    return on.allToAll(in, out, inCount / members, type, when);
  }
}

template <class Bits>
static std::optional<uint64_t> firstWithExponent(const void *data, uint64_t count, Bits exponent) {
  for (uint64_t i = 0; i < count; ++i)
    if ((static_cast<const Bits *>(data)[i] & exponent) == exponent)
      return i;
  return {};
}

std::optional<uint64_t> firstNotFinite(program::DType type, const void *data, uint64_t bytes) {
  uint64_t count = bytes / program::sizeOf(type);
  switch (type) {
  case program::DType::F32:
    return firstWithExponent<uint32_t>(data, count, 0x7F800000);
  case program::DType::F64:
    return firstWithExponent<uint64_t>(data, count, 0x7FF0000000000000);
  case program::DType::BF16:
    return firstWithExponent<uint16_t>(data, count, 0x7F80);
  case program::DType::F16:
    return firstWithExponent<uint16_t>(data, count, 0x7C00);
  default:
    return {};
  }
}

Status StepRunner::checkFiniteResult(const program::Instruction &instruction, const void *out, uint64_t bytes) const {
  bool product = instruction.op() == program::Op::Gemm;
  if (std::optional<uint64_t> at = firstNotFinite(product ? instruction.resultType() : instruction.type(), out, bytes))
    return Error{ErrorKind::Mismatch, fmt::format("element {} of the result is not finite", *at), {}};
  return {};
}

} // namespace hocket::runtime
