// The matrix products of one training step, alone: what a step costs at the least where the vendor's library is all.
#ifndef HOCKET_TOOLS_BENCH_GEMM_PRODUCTS_H
#define HOCKET_TOOLS_BENCH_GEMM_PRODUCTS_H

#include "runtime/Device/Cpu/ThreadPool.h"
#include "runtime/Device/Gemm.h"
#include "runtime/Program/ProgramFile.h"
#include <memory>
#include <string>
#include <vector>

namespace hocket::bench {

// One product of the step, and where its operands lie (bytes from the arena's start).
struct Product {
  runtime::Gemm gemm;
  uint64_t a, b, c;
};

// What a step of `rank` does: its products in the order of the rows of the entry `train`, each as often as its row
// runs, with the addresses of its microbatch and slot; and operations of products and, as the program states them, of
// kernels.
struct Work {
  std::vector<Product> products;
  double productFlops = 0, kernelFlops = 0;
};
Work workOf(const program::Program &program, uint32_t rank);

// The memory of the products: operands are read where the step reads them, results are written to the same offsets of a
// second arena, so that values stay as they are filled, in [-1, 1), however often the products run.
class Operands {
public:
  // Fails (returns what is missing) where the machine has not the memory.
  std::string create(const Work &work, uint64_t arenaBytes);

  // One pass over all products; seconds. The vendor's: dnnl_sgemm with `threads` OpenMP threads of its own, called from
  // a thread of its own. Ours: runtime::cpuGemm on `pool`. Both report a product that oneDNN refuses by a negative
  // value.
  double vendor(const Work &work, int threads);
  double ours(const Work &work, runtime::ThreadPool &pool);

private:
  struct Unmap {
    uint64_t bytes;
    void operator()(char *memory) const;
  };
  std::unique_ptr<char, Unmap> in{nullptr, Unmap{0}}, out{nullptr, Unmap{0}};
};

} // namespace hocket::bench
#endif
