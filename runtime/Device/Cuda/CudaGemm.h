// Matrix products by cublasLt.
#ifndef HOCKET_RUNTIME_DEVICE_CUDA_CUDAGEMM_H
#define HOCKET_RUNTIME_DEVICE_CUDA_CUDAGEMM_H

#include "runtime/Device/Cuda/BlasLt.h"
#include "runtime/Device/Gemm.h"
#include <map>
#include <memory>
#include <tuple>

namespace hocket::runtime::cuda {

// Products of one device. cublasLt is asked for its best algorithm once for a shape, its types and the alignment of its
// pointers; the answer is kept for the life of this object, so equal products are computed alike.
class Products {
public:
  static Result<std::unique_ptr<Products>> create(BlasLt library);
  ~Products();

  void workspace(void *memory, size_t bytes);
  // Queues C = op(A) op(B) (+ C). m, n and k are above 0.
  Status multiply(Handle stream, const Gemm &gemm, const void *a, const void *b, void *c);
  size_t shapesSeen() const { return plans.size(); }

private:
  struct Plan;
  using Key = std::tuple<bool, bool, bool, int64_t, int64_t, int64_t, int64_t, int64_t, int64_t, int64_t, int64_t,
                         int64_t, int64_t, GemmType, GemmType, uint32_t, uint32_t, uint32_t>;
  explicit Products(BlasLt library);
  Result<Plan *> planFor(const Gemm &gemm, uint32_t alignA, uint32_t alignB, uint32_t alignC);
  Status describe(Plan &plan, const Gemm &gemm);
  Status choose(Plan &plan, const Gemm &gemm, uint32_t alignA, uint32_t alignB, uint32_t alignC);

  BlasLt library;
  Handle handle = nullptr;
  void *workspaceMemory = nullptr;
  size_t workspaceBytes = 0;
  std::map<Key, std::unique_ptr<Plan>> plans;
};

} // namespace hocket::runtime::cuda
#endif
