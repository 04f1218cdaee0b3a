// cublasLt thinks in columns: row-major C = A B is its C' = B' A', so A and B change places and m and n with them. A
// matrix stored [k,n] by rows is [n,k] by columns with the same leading dimension; "transposed" means the same in both
// views.
#include "runtime/Device/Cuda/CudaGemm.h"
#include <algorithm>
#include <bit>
#include <fmt/format.h>

namespace hocket::runtime::cuda {

// Everything about one product but where its matrices lie.
struct Products::Plan {
  explicit Plan(const BlasLt &library) : library(library) {}
  ~Plan() {
    if (product)
      library.productDestroy(product);
    for (Handle layout : {first, second, result})
      if (layout)
        library.layoutDestroy(layout);
  }
  const BlasLt &library;
  Handle product = nullptr, first = nullptr, second = nullptr, result = nullptr;
  BlasHeuristic chosen{};
};

Products::Products(BlasLt library) : library(library) {}

Result<std::unique_ptr<Products>> Products::create(BlasLt library) {
  std::unique_ptr<Products> products(new Products(library));
  if (Status made = library.check(library.create(&products->handle), "cublasLtCreate"); !made)
    return std::move(made.error());
  return products;
}

Products::~Products() {
  plans.clear();
  if (handle)
    library.destroy(handle);
}

// Algorithms were chosen for the workspace there was.
void Products::workspace(void *memory, size_t bytes) {
  if (bytes != workspaceBytes)
    plans.clear();
  workspaceMemory = memory;
  workspaceBytes = bytes;
}

static int blasType(GemmType type) {
  return type == GemmType::F32 ? blasF32 : type == GemmType::F16 ? blasF16 : blasBF16;
}

// 16 or less: what vectors of an algorithm may need
static uint32_t alignmentOf(const void *pointer) {
  auto address = reinterpret_cast<uintptr_t>(pointer);
  return address ? std::min<uint32_t>(16, uint32_t(1) << std::min(std::countr_zero(address), 4)) : 16;
}

Status Products::describe(Plan &plan, const Gemm &g) {
  if (Status made =
          library.check(library.productCreate(&plan.product, blasCompute32F, blasF32), "cublasLtMatmulDescCreate");
      !made)
    return made;
  int first = g.transB ? blasOperationT : blasOperationN, second = g.transA ? blasOperationT : blasOperationN;
  for (auto [attribute, value] : {std::pair(blasTransA, &first), std::pair(blasTransB, &second)})
    if (Status set = library.check(library.productSet(plan.product, attribute, value, sizeof *value),
                                   "cublasLtMatmulDescSetAttribute");
        !set)
      return set;
  struct Layout {
    Handle &handle;
    GemmType type;
    int64_t rows, columns, leading, stride;
  };
  Layout layouts[] = {{plan.first, g.type, g.transB ? g.k : g.n, g.transB ? g.n : g.k, g.ldb, g.strideB},
                      {plan.second, g.type, g.transA ? g.m : g.k, g.transA ? g.k : g.m, g.lda, g.strideA},
                      {plan.result, g.resultType, g.n, g.m, g.ldc, g.strideC}};
  int count = static_cast<int>(g.batch);
  for (Layout &layout : layouts) {
    int outcome = library.layoutCreate(&layout.handle, blasType(layout.type), static_cast<uint64_t>(layout.rows),
                                       static_cast<uint64_t>(layout.columns), layout.leading);
    if (Status made = library.check(outcome, "cublasLtMatrixLayoutCreate"); !made)
      return made;
    outcome = library.layoutSet(layout.handle, blasBatchCount, &count, sizeof count);
    if (!outcome)
      outcome = library.layoutSet(layout.handle, blasBatchOffset, &layout.stride, sizeof layout.stride);
    if (Status set = library.check(outcome, "cublasLtMatrixLayoutSetAttribute"); !set)
      return set;
  }
  return {};
}

Status Products::choose(Plan &plan, const Gemm &gemm, uint32_t alignA, uint32_t alignB, uint32_t alignC) {
  Handle preference = nullptr;
  if (Status made = library.check(library.preferenceCreate(&preference), "cublasLtMatmulPreferenceCreate"); !made)
    return made;
  int outcome = library.preferenceSet(preference, blasMostWorkspace, &workspaceBytes, sizeof workspaceBytes);
  for (auto [attribute, align] : {std::pair(blasAlignmentA, alignB), std::pair(blasAlignmentB, alignA),
                                  std::pair(blasAlignmentC, alignC), std::pair(blasAlignmentD, alignC)})
    if (!outcome)
      outcome = library.preferenceSet(preference, attribute, &align, sizeof align);
  int found = 0;
  if (!outcome)
    outcome = library.heuristic(handle, plan.product, plan.first, plan.second, plan.result, plan.result, preference, 1,
                                &plan.chosen, &found);
  library.preferenceDestroy(preference);
  if (Status asked = library.check(outcome, "cublasLtMatmulAlgoGetHeuristic"); !asked)
    return asked;
  if (!found)
    return Error{
        ErrorKind::Invalid, fmt::format("cublasLt has no algorithm with {} bytes of workspace", workspaceBytes), {}};
  return {};
}

Result<Products::Plan *> Products::planFor(const Gemm &g, uint32_t alignA, uint32_t alignB, uint32_t alignC) {
  Key key(g.transA, g.transB, g.accumulate, g.m, g.n, g.k, g.lda, g.ldb, g.ldc, g.batch, g.strideA, g.strideB,
          g.strideC, g.type, g.resultType, alignA, alignB, alignC);
  auto known = plans.find(key);
  if (known != plans.end())
    return known->second.get();
  auto plan = std::make_unique<Plan>(library);
  Status done = describe(*plan, g);
  if (done)
    done = choose(*plan, g, alignA, alignB, alignC);
  if (!done)
    return std::move(done.error()).in(fmt::format("product m {} n {} k {} batch {}", g.m, g.n, g.k, g.batch));
  return (plans[key] = std::move(plan)).get();
}

Status Products::multiply(Handle stream, const Gemm &gemm, const void *a, const void *b, void *c) {
  Result<Plan *> plan = planFor(gemm, alignmentOf(a), alignmentOf(b), alignmentOf(c));
  if (!plan)
    return std::move(plan.error());
  const Plan &p = **plan;
  float alpha = 1, beta = gemm.accumulate ? 1 : 0;
  return library.check(library.multiply(handle, p.product, &alpha, b, p.first, a, p.second, &beta, c, p.result, c,
                                        p.result, &p.chosen.algorithm, workspaceMemory, workspaceBytes, stream),
                       "cublasLtMatmul");
}

} // namespace hocket::runtime::cuda
