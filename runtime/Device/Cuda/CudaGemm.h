// Matrix products by cublasLt.
#ifndef HOCKET_RUNTIME_DEVICE_CUDA_CUDAGEMM_H
#define HOCKET_RUNTIME_DEVICE_CUDA_CUDAGEMM_H

#include "runtime/Device/Cuda/BlasLt.h"
#include "runtime/Device/Gemm.h"
#include <array>
#include <map>
#include <memory>
#include <tuple>

namespace hocket::runtime::cuda {

// Products of one device. cublasLt is asked for its best algorithm once for a shape, its types, its epilogue and the
// alignment of its pointers; the answer is kept for the life of this object, so equal products are computed alike.
class Products {
public:
  static Result<std::unique_ptr<Products>> create(BlasLt library);
  ~Products();

  void workspace(void *memory, size_t bytes);
  // Asks for the algorithm. Lacking where there is none. m, n and k are above 0, here and below.
  Status prepare(const Gemm &gemm, const GemmBuffers &buffers);
  // Queues the product.
  Status multiply(Handle stream, const Gemm &gemm, const GemmBuffers &buffers);

private:
  struct Plan;
  // Largest powers of two up to 16 that divide the addresses: a, b, c, bias or sum, before.
  using Alignments = std::array<uint32_t, 5>;
  using Key = std::tuple<bool, bool, bool, int64_t, int64_t, int64_t, int64_t, int64_t, int64_t, int64_t, int64_t,
                         int64_t, int64_t, GemmType, GemmType, GemmEpilogue, Alignments>;
  explicit Products(BlasLt library);
  Result<Plan *> planFor(const Gemm &gemm, const GemmBuffers &buffers);
  Status set(Plan &plan, int attribute, const void *value, size_t bytes);
  Status describe(Plan &plan, const Gemm &gemm);
  Status describeEpilogue(Plan &plan, const Gemm &gemm);
  Status point(Plan &plan, const Gemm &gemm, const GemmBuffers &buffers);
  Status choose(Plan &plan, const Gemm &gemm, const Alignments &alignments);

  BlasLt library;
  Handle handle = nullptr;
  void *workspaceMemory = nullptr;
  size_t workspaceBytes = 0;
  std::map<Key, std::unique_ptr<Plan>> plans;
};

} // namespace hocket::runtime::cuda
#endif
