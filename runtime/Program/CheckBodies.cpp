// Buffers and instructions of a stage.
#include "runtime/Program/Check.h"

namespace hocket::program {

using Wide = unsigned __int128; // sums and products of sizes never wrap

bool checkBuffer(CheckContext &context, const RankProgram &rank, const Buffer &buffer, const std::string &where) {
  if (!context.enumIn(buffer.space(), where, "space"))
    return false;
  Wide end = Wide(buffer.offset()) + buffer.bytes();
  uint64_t limit = rank.arenaBytes();
  const char *what = "arena";
  if (buffer.space() == Space::Slot) {
    limit = rank.slotCount() ? rank.slotBytes() : 0;
    what = "slot";
  } else if (buffer.space() == Space::Microbatch) {
    end = Wide(buffer.offset()) + Wide(buffer.bytes()) * context.program.microbatches();
  } else if (buffer.space() == Space::Host) {
    limit = rank.hostBytes();
    what = "host's arena";
  } else if (buffer.space() == Space::HostSlot) {
    limit = rank.slotCount() ? rank.hostSlotBytes() : 0;
    what = "host's slot";
  }
  if (end <= limit)
    return true;
  std::string times = buffer.space() == Space::Microbatch ? fmt::format("{} x ", context.program.microbatches()) : "";
  context.fault("{}: {}{} bytes at {} lie outside the {} of {} bytes", where, times, buffer.bytes(), buffer.offset(),
                what, limit);
  return false;
}

namespace {
class InstructionCheck {
public:
  InstructionCheck(CheckContext &context, const RankProgram &rank, const Instruction &instruction, std::string where)
      : context(context), rank(rank), instruction(instruction), where(std::move(where)) {}

  void run() {
    for (uint32_t text : {instruction.what(), instruction.path(), instruction.source(), instruction.cause()})
      context.stringIn(text, where);
    bool sound = context.enumIn(instruction.op(), where, "op");
    sound &= context.enumIn(instruction.type(), where, "type");
    sound &= context.enumIn(instruction.resultType(), where, "result type");
    sound &= context.enumIn(instruction.reduction(), where, "reduction");
    sound &= context.enumIn(instruction.epilogue(), where, "epilogue");
    for (uint32_t i = 0; i < bufferCount(); ++i)
      sound &= checkBuffer(context, rank, *instruction.buffers()->Get(i), fmt::format("{} buffer {}", where, i));
    if (!sound || !checkSpaces())
      return;
    size_t before = context.faults.size();
    checkOp();
    if (context.faults.size() == before)
      checkWritten();
  }

private:
  void checkOp() {
    if (instruction.op() != Op::Gemm && instruction.epilogue() != Epilogue::None)
      context.fault("{}: epilogue {} of {}, expected Gemm", where, EnumNameEpilogue(instruction.epilogue()),
                    EnumNameOp(instruction.op()));
    switch (instruction.op()) {
    case Op::Kernel:
      return checkKernel();
    case Op::Gemm:
      return checkGemm();
    case Op::Transfer:
      return checkTransfer();
    case Op::Await:
      countIs(0);
      return;
    default:
      return checkCollective();
    }
  }

  uint32_t bufferCount() const { return instruction.buffers() ? instruction.buffers()->size() : 0; }

  bool countIs(uint32_t expected) {
    if (bufferCount() == expected)
      return true;
    context.fault("{}: {} buffers, expected {}", where, bufferCount(), expected);
    return false;
  }

  bool inHost(uint32_t buffer) const {
    Space space = instruction.buffers()->Get(buffer)->space();
    return space == Space::Host || space == Space::HostSlot;
  }

  // Only transfers touch the host's memory.
  bool checkSpaces() {
    for (uint32_t i = 0; instruction.op() != Op::Transfer && i < bufferCount(); ++i)
      if (inHost(i)) {
        context.fault("{} buffer {}: {} in the host's memory, expected a transfer", where, i,
                      EnumNameOp(instruction.op()));
        return false;
      }
    return true;
  }

  void checkTransfer() {
    if (!countIs(2))
      return;
    uint64_t in = instruction.buffers()->Get(0)->bytes(), out = instruction.buffers()->Get(1)->bytes();
    if (in != out)
      context.fault("{}: Transfer of {} bytes in, {} bytes out", where, in, out);
    if (inHost(0) == inHost(1))
      context.fault("{}: Transfer within the {}'s memory, expected between device and host", where,
                    inHost(0) ? "host" : "device");
  }

  void checkWritten() {
    for (uint32_t i = 0; instruction.written() && i < instruction.written()->size(); ++i) {
      const Written &written = *instruction.written()->Get(i);
      const auto *shapes = context.program.shapes();
      bool sound = context.enumIn(written.type(), where, "type of what it writes");
      sound &= context.enumIn(written.infinite(), where, "infinities of what it writes");
      sound &= context.stringIn(written.name(), where);
      sound &= context.indexIn(written.buffer(), bufferCount(), where, "buffer");
      sound &= context.indexIn(written.shape(), shapes ? shapes->size() : 0, where, "shape");
      if (!sound)
        return;
      Wide bytes = sizeOf(written.type());
      for (uint64_t extent : paddedShape(*shapes->Get(written.shape())))
        bytes *= extent;
      if (uint64_t size = instruction.buffers()->Get(written.buffer())->bytes(); bytes != size)
        context.fault("{}: writes a value of {} bytes into buffer {} of {}", where, static_cast<uint64_t>(bytes),
                      written.buffer(), size);
    }
  }

  void checkKernel() {
    const auto *kernels = context.program.kernels();
    context.indexIn(instruction.kernel(), kernels ? kernels->size() : 0, where, "kernel");
    const auto *scalars = context.program.scalars();
    if (instruction.scalars())
      for (uint32_t scalar : *instruction.scalars())
        context.indexIn(scalar, scalars ? scalars->size() : 0, where, "rank-dependent number");
  }

  void checkMatrix(const char *name, uint32_t buffer, DType type, uint64_t rows, uint64_t columns, uint64_t leading,
                   uint64_t batch, uint64_t stride) {
    uint64_t bytes = instruction.buffers()->Get(buffer)->bytes();
    if (leading < columns)
      context.fault("{}: leading dimension of {} is {}, expected at least its {} columns", where, name, leading,
                    columns);
    Wide last = Wide(rows - 1) * leading + columns;
    Wide limit = Wide(bytes) / sizeOf(type);
    // stride * (batch - 1) stays below 2^128: both are 64-bit
    if (last > limit || Wide(stride) * (batch - 1) > limit - last)
      context.fault("{}: {} of {} x {} (leading dimension {}, batch {} with stride {}) exceeds its buffer of {} bytes",
                    where, name, rows, columns, leading, batch, stride, bytes);
  }

  // Epilogues stand behind the buffers of the product, in this order: bias, the matrix before gelu, the sum.
  bool hasBias() const {
    return instruction.epilogue() == Epilogue::Bias || instruction.epilogue() == Epilogue::BiasGelu;
  }
  bool hasBefore() const {
    return instruction.epilogue() >= Epilogue::Gelu && instruction.epilogue() <= Epilogue::GeluGrad;
  }
  bool hasSum() const { return instruction.epilogue() >= Epilogue::SumA; }

  void checkEpilogue(const Gemm &gemm) {
    Epilogue epilogue = instruction.epilogue();
    if (epilogue == Epilogue::None)
      return;
    std::string name = fmt::format("{}: epilogue {}", where, EnumNameEpilogue(epilogue));
    if (std::string_view target = context.program.target()->string_view(); target != "cuda")
      context.fault("{} in a program for {}, expected cuda", name, target);
    if (gemm.batch() != 1)
      context.fault("{} with a batch of {}, expected 1", name, gemm.batch());
    if (gemm.accumulate() && epilogue < Epilogue::SumA)
      context.fault("{} accumulates, expected SumA or SumB", name);
    if (hasBefore() && gemm.ldc() % 8 != 0)
      context.fault("{} with a leading dimension of C of {}, expected a multiple of 8", name, gemm.ldc());
    DType result = instruction.resultType();
    uint32_t next = 3;
    if (hasBias())
      checkMatrix("bias", next++, result, 1, gemm.n(), gemm.n(), 1, 0);
    if (hasBefore())
      checkMatrix("the matrix before gelu", next++, result, gemm.m(), gemm.n(), gemm.ldc(), 1, 0);
    uint64_t sums = epilogue == Epilogue::SumA ? gemm.m() : gemm.n();
    if (hasSum())
      checkMatrix("the sum", next++, result, 1, sums, sums, 1, 0);
  }

  void checkGemm() {
    const Gemm *gemm = instruction.gemm();
    if (!countIs(3u + hasBias() + hasBefore() + hasSum()))
      return;
    if (!gemm) {
      context.fault("{}: matrix product without sizes, expected m, n and k", where);
      return;
    }
    DType type = instruction.type(), result = instruction.resultType();
    if (type != DType::F32 && type != DType::BF16 && type != DType::F16) {
      context.fault("{}: matrix product of type {}, expected F32, BF16 or F16", where, EnumNameDType(type));
      return;
    }
    if (result != DType::F32 && result != type) {
      context.fault("{}: matrix product of type {} with a result of type {}, expected F32 or {}", where,
                    EnumNameDType(type), EnumNameDType(result), EnumNameDType(type));
      return;
    }
    constexpr uint64_t most = uint64_t(1) << 31; // what a BLAS interface counts with
    for (uint64_t size : {gemm->m(), gemm->n(), gemm->k(), gemm->lda(), gemm->ldb(), gemm->ldc(), gemm->batch()})
      if (size < 1 || size >= most) {
        context.fault("{}: matrix product with size {}, expected 1 to 2^31 - 1", where, size);
        return;
      }
    uint64_t m = gemm->m(), n = gemm->n(), k = gemm->k();
    checkMatrix("A", 0, type, gemm->transA() ? k : m, gemm->transA() ? m : k, gemm->lda(), gemm->batch(),
                gemm->strideA());
    checkMatrix("B", 1, type, gemm->transB() ? n : k, gemm->transB() ? k : n, gemm->ldb(), gemm->batch(),
                gemm->strideB());
    checkMatrix("C", 2, result, m, n, gemm->ldc(), gemm->batch(), gemm->strideC());
    checkEpilogue(*gemm);
  }

  void checkCollective() {
    const auto *communicators = context.program.communicators();
    if (!countIs(2) ||
        !context.indexIn(instruction.communicator(), communicators ? communicators->size() : 0, where, "communicator"))
      return;
    const Communicator &communicator = *communicators->Get(instruction.communicator());
    std::string on = fmt::format("{}: {} on '{}'", where, EnumNameOp(instruction.op()), communicator.name()->str());
    if (communicator.kind() != CommunicatorKind::Group) {
      context.fault("{}, which is an edge, expected a group", on);
      return;
    }
    uint64_t n = memberCount(context.program, communicator, rank.stage());
    if (n == 0) {
      context.fault("{}, which stage {} does not belong to", on, rank.stage());
      return;
    }
    checkCollectiveSizes(on, n);
  }

  void checkCollectiveSizes(const std::string &on, uint64_t n) {
    const Buffer &in = *instruction.buffers()->Get(0), &out = *instruction.buffers()->Get(1);
    uint64_t piece = sizeOf(instruction.type());
    Wide left = in.bytes(), right = out.bytes();
    if (instruction.op() == Op::ReduceScatter) {
      right *= n;
      piece *= n;
    } else if (instruction.op() == Op::AllGather) {
      left *= n;
    } else if (instruction.op() == Op::AllToAll) {
      piece *= n;
    }
    if (left != right || in.bytes() % piece)
      context.fault("{} of {} ranks: {} bytes in, {} bytes out of type {}", on, n, in.bytes(), out.bytes(),
                    EnumNameDType(instruction.type()));
    bool same = in.space() == out.space() && in.offset() == out.offset();
    bool overlap = in.space() == out.space() && in.offset() < out.offset() + out.bytes() &&
                   out.offset() < in.offset() + in.bytes();
    if (overlap && !(same && (instruction.op() == Op::AllReduce || n == 1)))
      context.fault("{}: in at {} and out at {} overlap", on, in.offset(), out.offset());
  }

  CheckContext &context;
  const RankProgram &rank;
  const Instruction &instruction;
  std::string where;
};
} // namespace

void checkBodies(CheckContext &context, const RankProgram &rank) {
  Wide slotsEnd = Wide(rank.slotsOffset()) + Wide(rank.slotBytes()) * rank.slotCount();
  if (slotsEnd > rank.arenaBytes())
    context.fault("stage {}: {} slots of {} bytes at {} lie outside the arena of {} bytes", rank.stage(),
                  rank.slotCount(), rank.slotBytes(), rank.slotsOffset(), rank.arenaBytes());
  Wide hostEnd = Wide(rank.hostSlotsOffset()) + Wide(rank.hostSlotBytes()) * rank.slotCount();
  if (hostEnd > rank.hostBytes())
    context.fault("stage {}: {} slots of {} bytes at {} lie outside the host's arena of {} bytes", rank.stage(),
                  rank.slotCount(), rank.hostSlotBytes(), rank.hostSlotsOffset(), rank.hostBytes());
  for (const Body *body : *rank.bodies()) {
    std::string where = fmt::format("stage {} body '{}'", rank.stage(), body->name()->str());
    context.enumIn(body->kind(), where, "kind");
    for (uint32_t i = 0; i < body->instructions()->size(); ++i)
      InstructionCheck(context, rank, *body->instructions()->Get(i), fmt::format("{} instruction {}", where, i)).run();
  }
}

} // namespace hocket::program
