// What only a program for GPUs has: the code of kernels and how they are launched, memory behind the planned arena, and
// epilogues of products.
#include "runtime/Program/Check.h"
#include <algorithm>
#include <array>
#include <functional>

namespace hocket::program {

using Wide = unsigned __int128;

static bool isCuda(const CheckContext &context) { return context.program.target()->string_view() == "cuda"; }

// What every GPU since sm_80 allows; shared memory is that of sm_90 and later (sm_80: 163 KiB).
static constexpr uint32_t maxGridX = 0x7fffffff, maxGrid = 65535, maxBlock = 1024, maxBlockZ = 64;
static constexpr uint32_t maxShared = 227 << 10, maxSharedOf80 = 163 << 10;

static void checkLaunch(CheckContext &context, const GpuLaunch &launch, const std::string &where) {
  const GpuShape &shape = *launch.shape();
  if (launch.symbol()->size() == 0)
    context.fault("{}: the symbol is empty", where);
  if (shape.gridX() < 1 || shape.gridX() > maxGridX || shape.gridY() < 1 || shape.gridY() > maxGrid ||
      shape.gridZ() < 1 || shape.gridZ() > maxGrid)
    context.fault("{}: grid of {} x {} x {} blocks, expected at least 1 and at most {} x {} x {}", where, shape.gridX(),
                  shape.gridY(), shape.gridZ(), maxGridX, maxGrid, maxGrid);
  Wide threads = Wide(shape.blockX()) * shape.blockY() * shape.blockZ();
  if (threads < 1 || threads > maxBlock || shape.blockZ() > maxBlockZ)
    context.fault("{}: block of {} x {} x {} threads, expected at least 1 and at most {} in all, {} along z", where,
                  shape.blockX(), shape.blockY(), shape.blockZ(), maxBlock, maxBlockZ);
  if (shape.sharedBytes() > maxShared)
    context.fault("{}: {} bytes of dynamic shared memory, expected at most {}", where, shape.sharedBytes(), maxShared);
  for (uint32_t i = 0; launch.figures() && i < launch.figures()->size(); ++i) {
    const GpuFigures &figures = *launch.figures()->Get(i);
    uint32_t most = figures.architecture() < 90 ? maxSharedOf80 : maxShared;
    if (uint64_t shared = uint64_t(shape.sharedBytes()) + figures.sharedBytes();
        shape.sharedBytes() <= maxShared && shared > most)
      context.fault("{}: {} bytes of shared memory, static and dynamic, expected at most {} on sm_{}", where, shared,
                    most, figures.architecture());
  }
}

static void checkCode(CheckContext &context, const GpuCode &code, const std::string &where) {
  if (code.launches()->size() == 0)
    context.fault("{}: no launches, expected at least 1", where);
  for (const GpuLaunch *launch : *code.launches())
    checkLaunch(context, *launch, fmt::format("{} launch '{}'", where, launch->symbol()->str()));
  if (code.scratchBytes() > maxSize)
    context.fault("{}: {} bytes of scratch, expected at most {}", where, code.scratchBytes(), maxSize);
  if (code.bitcode()->size() < 4 || code.bitcode()->Get(0) != 'B' || code.bitcode()->Get(1) != 'C')
    context.fault("{}: {} bytes of bitcode that do not start with BC", where, code.bitcode()->size());
  if (code.ptx()->size() == 0)
    context.fault("{}: no PTX", where);
  uint32_t before = 0;
  for (uint32_t i = 0; code.cubins() && i < code.cubins()->size(); ++i) {
    const Cubin &cubin = *code.cubins()->Get(i);
    if (cubin.architecture() <= before)
      context.fault("{}: cubin {} is for sm_{}, expected architectures in rising order", where, i,
                    cubin.architecture());
    before = std::max(before, cubin.architecture());
    if (cubin.code()->size() < 4 || cubin.code()->Get(0) != 0x7f || cubin.code()->Get(1) != 'E')
      context.fault("{}: cubin for sm_{} is no ELF file", where, cubin.architecture());
  }
}

void checkTarget(CheckContext &context) {
  const Program &program = context.program;
  if (std::string_view target = program.target()->string_view(); target != "cpu" && target != "cuda")
    context.fault("target '{}', expected cpu or cuda", target);
  for (uint32_t i = 0; program.kernels() && i < program.kernels()->size(); ++i) {
    const Kernel &kernel = *program.kernels()->Get(i);
    std::string where = fmt::format("kernel {} '{}'", i, kernel.symbol()->str());
    if (isCuda(context) != (kernel.gpu() != nullptr))
      context.fault("{}: {} code for GPUs, in a program for {}", where, kernel.gpu() ? "has" : "has no",
                    program.target()->str());
    else if (kernel.gpu())
      checkCode(context, *kernel.gpu(), where);
  }
}

namespace {
struct Reserved {
  const char *name;
  uint64_t begin, bytes;
  bool meets(Wide otherBegin, Wide otherBytes) const {
    return otherBytes && bytes && otherBegin < Wide(begin) + bytes && begin < otherBegin + otherBytes;
  }
};

class GpuMemoryCheck {
public:
  GpuMemoryCheck(CheckContext &context, const RankProgram &rank)
      : context(context), rank(rank),
        ranges{Reserved{"scratch of kernels", rank.scratchOffset(), rank.scratchBytes()},
               Reserved{"workspace of products", rank.productsOffset(), rank.productsBytes()}} {}

  void run() {
    if (!isCuda(context)) {
      for (const Reserved &range : ranges)
        if (range.bytes)
          context.fault("stage {}: {} bytes as {} of a GPU, in a program for {}", rank.stage(), range.bytes, range.name,
                        context.program.target()->str());
      return;
    }
    for (const Reserved &range : ranges)
      checkPlace(range);
    if (ranges[0].meets(ranges[1].begin, ranges[1].bytes))
      context.fault("stage {}: {} at {} and {} at {} overlap", rank.stage(), ranges[0].name, ranges[0].begin,
                    ranges[1].name, ranges[1].begin);
    checkSlots();
    checkBuffers();
  }

private:
  void checkPlace(const Reserved &range) {
    constexpr uint64_t alignment = 256;
    if (Wide(range.begin) + range.bytes > rank.arenaBytes())
      context.fault("stage {}: {} bytes at {} as {} lie outside the arena of {} bytes", rank.stage(), range.bytes,
                    range.begin, range.name, rank.arenaBytes());
    if (range.begin % alignment)
      context.fault("stage {}: {} at {}, expected a multiple of {}", rank.stage(), range.name, range.begin, alignment);
  }

  void checkSlots() {
    for (const Reserved &range : ranges)
      if (range.meets(rank.slotsOffset(), Wide(rank.slotBytes()) * rank.slotCount()))
        context.fault("stage {}: {} at {} and the slots at {} overlap", rank.stage(), range.name, range.begin,
                      rank.slotsOffset());
  }

  // Each range is told once, of the first buffer that lies over it.
  void checkBuffer(const Buffer &buffer, const std::function<std::string()> &where) {
    Wide bytes = buffer.space() == Space::Arena        ? Wide(buffer.bytes())
                 : buffer.space() == Space::Microbatch ? Wide(buffer.bytes()) * context.program.microbatches()
                                                       : 0;
    for (Reserved &range : ranges)
      if (range.meets(buffer.offset(), bytes)) {
        context.fault("{} at {} and {} of stage {} at {} overlap", where(), buffer.offset(), range.name, rank.stage(),
                      range.begin);
        range.bytes = 0;
      }
  }

  void checkBuffers() {
    for (uint32_t i = 0; rank.state() && i < rank.state()->size(); ++i)
      if (const State &state = *rank.state()->Get(i); state.buffer())
        checkBuffer(*state.buffer(),
                    [&] { return fmt::format("stage {} state '{}'", rank.stage(), state.name()->str()); });
    for (uint32_t i = 0; rank.inputs() && i < rank.inputs()->size(); ++i)
      if (const Input &input = *rank.inputs()->Get(i); input.buffer())
        checkBuffer(*input.buffer(),
                    [&] { return fmt::format("stage {} input '{}'", rank.stage(), input.name()->str()); });
    for (uint32_t i = 0; rank.outputs() && i < rank.outputs()->size(); ++i)
      if (const Output &output = *rank.outputs()->Get(i); output.buffer())
        checkBuffer(*output.buffer(),
                    [&] { return fmt::format("stage {} output {}", rank.stage(), EnumNameOutputKind(output.kind())); });
    for (const Body *body : *rank.bodies())
      for (uint32_t i = 0; i < body->instructions()->size(); ++i)
        checkInstruction(*body, i);
  }

  void checkInstruction(const Body &body, uint32_t index) {
    const Instruction &instruction = *body.instructions()->Get(index);
    auto where = [&] {
      return fmt::format("stage {} body '{}' instruction {}", rank.stage(), body.name()->str(), index);
    };
    for (uint32_t i = 0; instruction.buffers() && i < instruction.buffers()->size(); ++i)
      checkBuffer(*instruction.buffers()->Get(i), [&] { return fmt::format("{} buffer {}", where(), i); });
    if (instruction.op() != Op::Kernel)
      return;
    const Kernel &kernel = *context.program.kernels()->Get(instruction.kernel());
    if (kernel.gpu() && kernel.gpu()->scratchBytes() > rank.scratchBytes())
      context.fault("{}: kernel '{}' needs {} bytes of scratch, the stage has {}", where(), kernel.symbol()->str(),
                    kernel.gpu()->scratchBytes(), rank.scratchBytes());
  }

  CheckContext &context;
  const RankProgram &rank;
  std::array<Reserved, 2> ranges;
};
} // namespace

void checkGpuMemory(CheckContext &context, const RankProgram &rank) { GpuMemoryCheck(context, rank).run(); }

} // namespace hocket::program
