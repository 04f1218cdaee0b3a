// See Products.h.
#include "tools/bench-gemm/Products.h"
#include "runtime/Device/Cpu/CpuDevice.h"
#include "runtime/Program/Mesh.h"
#include <chrono>
#include <cstring>
#include <dlfcn.h>
#include <fmt/format.h>
#include <oneapi/dnnl/dnnl.h>
#include <sys/mman.h>
#include <thread>

namespace hocket::bench {
namespace {

using Clock = std::chrono::steady_clock;

double secondsSince(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

runtime::Gemm gemmOf(const program::Gemm &from) {
  auto number = [](uint64_t value) { return static_cast<int64_t>(value); };
  return {from.transA(),         from.transB(),        from.accumulate(),      number(from.m()),
          number(from.n()),      number(from.k()),     number(from.lda()),     number(from.ldb()),
          number(from.ldc()),    number(from.batch()), number(from.strideA()), number(from.strideB()),
          number(from.strideC())};
}

uint64_t offsetOf(const program::RankProgram &own, const program::Buffer &buffer, const program::Row &row) {
  switch (buffer.space()) {
  case program::Space::Slot:
    return own.slotsOffset() + row.slot() * own.slotBytes() + buffer.offset();
  case program::Space::Microbatch:
    return buffer.offset() + row.microbatch() * buffer.bytes();
  default:
    return buffer.offset();
  }
}

uint64_t extent(int64_t rows, int64_t columns, int64_t leading, int64_t batch, int64_t stride) {
  return static_cast<uint64_t>((batch - 1) * stride + (rows - 1) * leading + columns) * sizeof(float);
}

// Values in [-1, 1), by a linear congruential generator.
void fill(char *at, uint64_t bytes, uint32_t seed) {
  auto *values = reinterpret_cast<float *>(at);
  for (uint64_t i = 0; i < bytes / sizeof(float); ++i) {
    seed = seed * 1664525 + 1013904223;
    values[i] = static_cast<float>(static_cast<int32_t>(seed)) * 0x1p-31f;
  }
}

} // namespace

Work workOf(const program::Program &program, uint32_t rank) {
  const program::RankProgram &own = *program.ranks()->Get(program::stageOf(program::Mesh(program), program, rank));
  Work work;
  for (const program::Entry *entry : *own.entries()) {
    if (entry->name()->string_view() != program::trainEntry)
      continue;
    for (const program::Row *row : *entry->rows()) {
      if (row->kind() != program::RowKind::Body)
        continue;
      for (const program::Instruction *instruction : *own.bodies()->Get(row->index())->instructions()) {
        if (instruction->op() == program::Op::Kernel)
          work.kernelFlops += static_cast<double>(program.kernels()->Get(instruction->kernel())->flops());
        if (instruction->op() != program::Op::Gemm)
          continue;
        auto at = [&](uint32_t operand) { return offsetOf(own, *instruction->buffers()->Get(operand), *row); };
        runtime::Gemm gemm = gemmOf(*instruction->gemm());
        work.products.push_back({gemm, at(0), at(1), at(2)});
        work.productFlops += 2.0 * static_cast<double>(gemm.m) * static_cast<double>(gemm.n) *
                             static_cast<double>(gemm.k) * static_cast<double>(gemm.batch);
      }
    }
  }
  return work;
}

void Operands::Unmap::operator()(char *memory) const { ::munmap(memory, bytes); }

std::string Operands::create(const Work &work, uint64_t arenaBytes) {
  for (auto *arena : {&in, &out}) {
    void *memory =
        ::mmap(nullptr, arenaBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED)
      return fmt::format("no {} bytes of address space", arenaBytes);
    *arena = {static_cast<char *>(memory), Unmap{arenaBytes}};
  }
  for (const Product &product : work.products) {
    const runtime::Gemm &g = product.gemm;
    uint64_t a = g.transA ? extent(g.k, g.m, g.lda, g.batch, g.strideA) : extent(g.m, g.k, g.lda, g.batch, g.strideA);
    uint64_t b = g.transB ? extent(g.n, g.k, g.ldb, g.batch, g.strideB) : extent(g.k, g.n, g.ldb, g.batch, g.strideB);
    fill(in.get() + product.a, a, 1);
    fill(in.get() + product.b, b, 2);
    std::memset(out.get() + product.c, 0, extent(g.m, g.n, g.ldc, g.batch, g.strideC));
  }
  return {};
}

double Operands::vendor(const Work &work, int threads) {
  double seconds = -1;
  auto pass = [&] {
    // OpenMP counts threads per calling thread.
    if (auto *set = reinterpret_cast<void (*)(int)>(::dlsym(RTLD_DEFAULT, "omp_set_num_threads")))
      set(threads);
    auto multiply = [&](const Product &p, int64_t i) {
      const runtime::Gemm &g = p.gemm;
      auto *a = reinterpret_cast<const float *>(in.get() + p.a) + i * g.strideA;
      auto *b = reinterpret_cast<const float *>(in.get() + p.b) + i * g.strideB;
      auto *c = reinterpret_cast<float *>(out.get() + p.c) + i * g.strideC;
      return dnnl_sgemm(g.transA ? 'T' : 'N', g.transB ? 'T' : 'N', g.m, g.n, g.k, 1.0f, a, g.lda, b, g.ldb,
                        g.accumulate ? 1.0f : 0.0f, c, g.ldc);
    };
    dnnl_status_t worst = multiply(work.products.front(), 0); // the team's threads start here
    Clock::time_point begin = Clock::now();
    for (const Product &product : work.products)
      for (int64_t i = 0; i < product.gemm.batch; ++i)
        if (dnnl_status_t status = multiply(product, i); status != dnnl_success)
          worst = status;
    seconds = worst == dnnl_success ? secondsSince(begin) : -1;
  };
  std::thread(pass).join();
  return seconds;
}

double Operands::ours(const Work &work, runtime::ThreadPool &pool) {
  Clock::time_point begin = Clock::now();
  for (const Product &product : work.products) {
    auto at = [&](char *arena, uint64_t offset) { return reinterpret_cast<float *>(arena + offset); };
    if (!runtime::cpuGemm(pool, product.gemm, at(in.get(), product.a), at(in.get(), product.b),
                          at(out.get(), product.c)))
      return -1;
  }
  return secondsSince(begin);
}

} // namespace hocket::bench
