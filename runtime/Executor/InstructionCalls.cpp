// See InstructionCalls.h.
#include "runtime/Executor/InstructionCalls.h"
#include "runtime/Program/Calls.h"

namespace hocket::runtime {

std::vector<void *> addressesOf(const RankContext &context, const program::Instruction &instruction,
                                const program::Row &row) {
  std::vector<void *> result;
  for (uint32_t i = 0; instruction.buffers() && i < instruction.buffers()->size(); ++i)
    result.push_back(context.address(*instruction.buffers()->Get(i), row.microbatch(), row.slot()));
  return result;
}

std::vector<int64_t> scalarsOf(const RankContext &context, const program::Instruction &instruction) {
  std::vector<int64_t> result;
  if (instruction.scalars())
    for (uint32_t scalar : *instruction.scalars())
      result.push_back(context.scalars[scalar]);
  return result;
}

static GemmType gemmType(program::DType type) {
  return type == program::DType::BF16 ? GemmType::BF16 : type == program::DType::F16 ? GemmType::F16 : GemmType::F32;
}

Gemm gemmOf(const program::Instruction &instruction) {
  const program::Gemm &from = *instruction.gemm();
  Gemm result;
  result.type = gemmType(instruction.type());
  result.resultType = gemmType(instruction.resultType());
  result.epilogue = static_cast<GemmEpilogue>(instruction.epilogue());
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

GemmBuffers gemmBuffers(const program::Instruction &instruction, std::span<void *const> addresses) {
  auto epilogue = static_cast<GemmEpilogue>(instruction.epilogue());
  GemmBuffers buffers{addresses[0], addresses[1], addresses[2]};
  size_t next = 3;
  if (hasBias(epilogue))
    buffers.bias = addresses[next++];
  if (hasBefore(epilogue))
    buffers.before = addresses[next++];
  if (hasSum(epilogue))
    buffers.sum = addresses[next++];
  return buffers;
}

Status prepareProducts(const RankContext &context) {
  for (const program::Body *body : *context.own.bodies())
    for (const program::Instruction *instruction : *body->instructions()) {
      if (instruction->op() != program::Op::Gemm)
        continue;
      std::vector<void *> addresses; // of the first microbatch; those of others are as aligned
      for (const program::Buffer *buffer : *instruction->buffers())
        addresses.push_back(context.address(*buffer, 0, 0));
      Status known = context.device.prepare(gemmOf(*instruction), gemmBuffers(*instruction, addresses));
      if (!known)
        return std::move(known.error()).in(std::string(context.text(instruction->what())));
    }
  return {};
}

Status callCollective(const RankContext &context, const program::Instruction &instruction, void *in, void *out,
                      When when) {
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

Result<std::unique_ptr<Request>> postMessage(const RankContext &context, const program::Row &row, void *stream) {
  const program::Message &message = *context.own.messages()->Get(row.index());
  Communicator &edge = *context.communicators[message.communicator()];
  std::byte *data = context.address(*message.buffer(), row.microbatch(), row.slot());
  uint64_t bytes = message.buffer()->bytes();
  ElementType type = elementType(program::messageType(message));
  uint64_t count = bytes / sizeBytes(type);
  return row.kind() == program::RowKind::Send ? edge.send(data, count, type, 1, stream)
                                              : edge.receive(data, count, type, 0, stream);
}

} // namespace hocket::runtime
