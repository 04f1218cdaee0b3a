// cublasLt thinks in columns: row-major C = A B is its C' = B' A', so A and B change places and m and n with them. A
// matrix stored [k,n] by rows is [n,k] by columns with the same leading dimension; "transposed" means the same in both
// views. A bias along our columns lies along its rows, as it wants it; the sum of our A is that of its B.
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

static const void *vectorOf(const Gemm &gemm, const GemmBuffers &buffers) {
  return hasBias(gemm.epilogue) ? buffers.bias : buffers.sum;
}

namespace {
struct Epilogue {
  uint32_t value;
  const char *name;
};
} // namespace

static Epilogue epilogueOf(GemmEpilogue epilogue) {
  switch (epilogue) {
  case GemmEpilogue::Bias:
    return {blasEpilogueBias, "BIAS"};
  case GemmEpilogue::Gelu:
    return {blasEpilogueGeluAux, "GELU_AUX"};
  case GemmEpilogue::BiasGelu:
    return {blasEpilogueGeluAuxBias, "GELU_AUX_BIAS"};
  case GemmEpilogue::GeluGrad:
    return {blasEpilogueDGelu, "DGELU"};
  case GemmEpilogue::SumA:
    return {blasEpilogueBGradB, "BGRADB"};
  case GemmEpilogue::SumB:
    return {blasEpilogueBGradA, "BGRADA"};
  case GemmEpilogue::None:
    break;
  }
  return {blasEpilogueDefault, "DEFAULT"};
}

Status Products::set(Plan &plan, int attribute, const void *value, size_t bytes) {
  return library.check(library.productSet(plan.product, attribute, value, bytes), "cublasLtMatmulDescSetAttribute");
}

Status Products::describe(Plan &plan, const Gemm &g) {
  if (Status made =
          library.check(library.productCreate(&plan.product, blasCompute32F, blasF32), "cublasLtMatmulDescCreate");
      !made)
    return made;
  int first = g.transB ? blasOperationT : blasOperationN, second = g.transA ? blasOperationT : blasOperationN;
  for (auto [attribute, value] : {std::pair(blasTransA, &first), std::pair(blasTransB, &second)})
    if (Status done = set(plan, attribute, value, sizeof *value); !done)
      return done;
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
    if (Status done = library.check(outcome, "cublasLtMatrixLayoutSetAttribute"); !done)
      return done;
  }
  return describeEpilogue(plan, g);
}

Status Products::describeEpilogue(Plan &plan, const Gemm &g) {
  if (g.epilogue == GemmEpilogue::None)
    return {};
  uint32_t epilogue = epilogueOf(g.epilogue).value;
  int type = blasType(g.resultType);
  Status done = set(plan, blasEpilogue, &epilogue, sizeof epilogue);
  if (done && (hasBias(g.epilogue) || hasSum(g.epilogue)))
    done = set(plan, blasBiasType, &type, sizeof type);
  if (done && hasBefore(g.epilogue))
    done = set(plan, blasAuxType, &type, sizeof type);
  if (done && hasBefore(g.epilogue))
    done = set(plan, blasAuxLeading, &g.ldc, sizeof g.ldc);
  return done;
}

// Where the epilogue reads and writes. The heuristic looks at it too, for alignment.
Status Products::point(Plan &plan, const Gemm &g, const GemmBuffers &buffers) {
  Status done;
  if (const void *vector = vectorOf(g, buffers); hasBias(g.epilogue) || hasSum(g.epilogue))
    done = set(plan, blasBiasPointer, &vector, sizeof vector);
  if (done && hasBefore(g.epilogue))
    done = set(plan, blasAuxPointer, &buffers.before, sizeof buffers.before);
  return done;
}

Status Products::choose(Plan &plan, const Gemm &gemm, const Alignments &alignments) {
  Handle preference = nullptr;
  if (Status made = library.check(library.preferenceCreate(&preference), "cublasLtMatmulPreferenceCreate"); !made)
    return made;
  auto [alignA, alignB, alignC, alignVector, alignBefore] = alignments;
  // Where parts of k are summed apart, the parts are f32: otherwise sums of 16 bits would be rounded more than once.
  uint32_t reductions = blasReduceInComputeType | (gemm.resultType == GemmType::F32 ? blasReduceInPlace : 0);
  int outcome = library.preferenceSet(preference, blasMostWorkspace, &workspaceBytes, sizeof workspaceBytes);
  if (!outcome)
    outcome = library.preferenceSet(preference, blasReductions, &reductions, sizeof reductions);
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
  if (found)
    return {};
  std::string epilogue =
      gemm.epilogue == GemmEpilogue::None
          ? ""
          : fmt::format(" and the epilogue {}; hocket compile --epilogues=none makes a program without epilogues",
                        epilogueOf(gemm.epilogue).name);
  return Error{ErrorKind::Lacking,
               fmt::format("cublasLt has no algorithm with {} bytes of workspace{}", workspaceBytes, epilogue),
               {}};
}

Result<Products::Plan *> Products::planFor(const Gemm &g, const GemmBuffers &buffers) {
  Alignments alignments = {alignmentOf(buffers.a), alignmentOf(buffers.b), alignmentOf(buffers.c),
                           alignmentOf(vectorOf(g, buffers)), alignmentOf(buffers.before)};
  Key key(g.transA, g.transB, g.accumulate, g.m, g.n, g.k, g.lda, g.ldb, g.ldc, g.batch, g.strideA, g.strideB,
          g.strideC, g.type, g.resultType, g.epilogue, alignments);
  auto known = plans.find(key);
  if (known != plans.end())
    return known->second.get();
  auto plan = std::make_unique<Plan>(library);
  Status done = describe(*plan, g);
  if (done)
    done = point(*plan, g, buffers);
  if (done)
    done = choose(*plan, g, alignments);
  if (!done)
    return std::move(done.error()).in(fmt::format("product m {} n {} k {} batch {}", g.m, g.n, g.k, g.batch));
  return (plans[key] = std::move(plan)).get();
}

Status Products::prepare(const Gemm &gemm, const GemmBuffers &buffers) {
  Result<Plan *> plan = planFor(gemm, buffers);
  return plan ? Status() : Status(std::move(plan.error()));
}

Status Products::multiply(Handle stream, const Gemm &gemm, const GemmBuffers &buffers) {
  Result<Plan *> plan = planFor(gemm, buffers);
  if (!plan)
    return std::move(plan.error());
  Plan &p = **plan;
  if (Status pointed = point(p, gemm, buffers); !pointed)
    return pointed;
  float alpha = 1, beta = gemm.accumulate ? 1 : 0;
  return library.check(library.multiply(handle, p.product, &alpha, buffers.b, p.first, buffers.a, p.second, &beta,
                                        buffers.c, p.result, buffers.c, p.result, &p.chosen.algorithm, workspaceMemory,
                                        workspaceBytes, stream),
                       "cublasLtMatmul");
}

} // namespace hocket::runtime::cuda
