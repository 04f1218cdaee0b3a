// Forward and backward of a small GPT with the epilogues of products and without them: kernels by reference semantics,
// products by the emulator's loops. Both make the same numbers, but for roundings that epilogues save.
#include "KernelTesting.h"
#include "dialect/NN/Rounding.h"
#include "dialect/Step/Step.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "passes/Codegen/Fusion/Passes.h"
#include "passes/Dist/Passes.h"
#include "passes/DistToStep/Passes.h"
#include "passes/NN/Passes.h"
#include "runtime/Device/Emulator/EmulatorDevice.h"
#include "llvm/Support/xxhash.h"
#include <map>
using namespace mlir;
using namespace hocket;
using namespace hocket::codegen::testing;

namespace {
/// A layer with biases everywhere but in a second feed-forward beside the first, twice.
const char *const model = R"(
nn.block @layer(%x: tensor<?x6x32xf32>, %pos: tensor<?x6xi32>) -> tensor<?x6x32xf32> {
  %g1 = param "ln_1.weight" : tensor<32xf32> init ones
  %b1 = param "ln_1.bias" : tensor<32xf32> init zeros
  %n1 = layer_norm %x, %g1, %b1 : tensor<?x6x32xf32>, tensor<32xf32>, tensor<32xf32> -> tensor<?x6x32xf32>
  %wqkv = param "attn.qkv.weight" : tensor<32x3x2x16xf32> init normal(0.2)
  %bqkv = param "attn.qkv.bias" : tensor<3x2x16xf32> init zeros
  %qkv0 = linear %n1, %wqkv : tensor<?x6x32xf32>, tensor<32x3x2x16xf32> -> tensor<?x6x3x2x16xf32>
  %qkv = add %qkv0, %bqkv : tensor<?x6x3x2x16xf32>, tensor<3x2x16xf32> -> tensor<?x6x3x2x16xf32>
  %q, %k, %v = unstack %qkv dim 2 : tensor<?x6x3x2x16xf32> -> tensor<?x6x2x16xf32>, tensor<?x6x2x16xf32>, tensor<?x6x2x16xf32>
  %a = attention %q, %k, %v at %pos, %pos causal scale(0.25) : tensor<?x6x2x16xf32>, tensor<?x6x2x16xf32>, tensor<?x6x2x16xf32>, tensor<?x6xi32>, tensor<?x6xi32> -> tensor<?x6x2x16xf32>
  %wproj = param "attn.proj.weight" : tensor<2x16x32xf32> init normal(0.2)
  %bproj = param "attn.proj.bias" : tensor<32xf32> init zeros
  %p0 = linear %a, %wproj : tensor<?x6x2x16xf32>, tensor<2x16x32xf32> -> tensor<?x6x32xf32>
  %p = add %p0, %bproj : tensor<?x6x32xf32>, tensor<32xf32> -> tensor<?x6x32xf32>
  %r = add %x, %p : tensor<?x6x32xf32>, tensor<?x6x32xf32> -> tensor<?x6x32xf32>
  %g2 = param "ln_2.weight" : tensor<32xf32> init ones
  %b2 = param "ln_2.bias" : tensor<32xf32> init zeros
  %n2 = layer_norm %r, %g2, %b2 : tensor<?x6x32xf32>, tensor<32xf32>, tensor<32xf32> -> tensor<?x6x32xf32>
  %wfc = param "mlp.fc.weight" : tensor<32x48xf32> init normal(0.2)
  %bfc = param "mlp.fc.bias" : tensor<48xf32> init zeros
  %f0 = linear %n2, %wfc : tensor<?x6x32xf32>, tensor<32x48xf32> -> tensor<?x6x48xf32>
  %f = add %f0, %bfc : tensor<?x6x48xf32>, tensor<48xf32> -> tensor<?x6x48xf32>
  %u = gelu %f : tensor<?x6x48xf32> -> tensor<?x6x48xf32>
  %wout = param "mlp.proj.weight" : tensor<48x32xf32> init normal(0.2)
  %bout = param "mlp.proj.bias" : tensor<32xf32> init zeros
  %o0 = linear %u, %wout : tensor<?x6x48xf32>, tensor<48x32xf32> -> tensor<?x6x32xf32>
  %o = add %o0, %bout : tensor<?x6x32xf32>, tensor<32xf32> -> tensor<?x6x32xf32>
  %wup = param "side.up.weight" : tensor<32x24xf32> init normal(0.2)
  %e0 = linear %n2, %wup : tensor<?x6x32xf32>, tensor<32x24xf32> -> tensor<?x6x24xf32>
  %e = gelu %e0 : tensor<?x6x24xf32> -> tensor<?x6x24xf32>
  %wdown = param "side.down.weight" : tensor<24x32xf32> init normal(0.2)
  %d = linear %e, %wdown : tensor<?x6x24xf32>, tensor<24x32xf32> -> tensor<?x6x32xf32>
  %s = add %r, %d : tensor<?x6x32xf32>, tensor<?x6x32xf32> -> tensor<?x6x32xf32>
  %y = add %s, %o : tensor<?x6x32xf32>, tensor<?x6x32xf32> -> tensor<?x6x32xf32>
  return %y : tensor<?x6x32xf32>
}
nn.model @gpt(%tokens: tensor<?x6xi32>, %next: tensor<?x6xi32>) -> (tensor<f32>, tensor<i64>) {
  %wte = param "wte" : tensor<40x32xf32> init normal(0.02)
  %pos = positions : tensor<?x6xi32>
  %x = embedding %tokens, %wte : tensor<?x6xi32>, tensor<40x32xf32> -> tensor<?x6x32xf32>
  %y = repeat @layer(%x, %pos) 2 as "h" : tensor<?x6x32xf32>, tensor<?x6xi32> -> tensor<?x6x32xf32>
  %logits = linear transposed %y, %wte : tensor<?x6x32xf32>, tensor<40x32xf32> -> tensor<?x6x40xf32>
  %sum, %count = cross_entropy %logits, %next : tensor<?x6x40xf32>, tensor<?x6xi32> -> tensor<f32>, tensor<i64>
  return %sum, %count : tensor<f32>, tensor<i64>
}
nn.recipe @pretrain for @gpt {
  batch 4 sequences
  precision params f32 compute f32 accumulate f32
  optimizer adamw(betas = [0.9, 0.95], weight_decay = 0.1)
  learning_rate cosine(peak = 1.0e-3, warmup = 10, decay = 200, floor = 1.0e-4)
  seed 1234
}
dist.mesh @one<"dp"=1>
dist.plan @single for @gpt on @one {
  batch over "dp" microbatch 2 sequences
}
dist.plan @again for @gpt on @one {
  batch over "dp" microbatch 2 sequences
  recompute full
}
)";

runtime::GemmType gemmType(Type element) {
  return element.isBF16() ? runtime::GemmType::BF16 : element.isF16() ? runtime::GemmType::F16 : runtime::GemmType::F32;
}

/// The bodies of the one stage, run on buffers before memory is planned.
class Bodies {
public:
  Bodies(const std::string &precision, const char *plan, bool epilogues) {
    context.loadDialect<nn::NNDialect, dist::DistDialect, step::StepDialect, arith::ArithDialect, math::MathDialect,
                        func::FuncDialect>();
    std::string text = model;
    text.replace(text.find("compute f32"), 11, "compute " + precision);
    module = parseSourceString<ModuleOp>(text, ParserConfig(&context));
    nn::BuildTrainingStepPassOptions options;
    options.plan = plan;
    options.rows = 2;
    options.microbatches = 2;
    PassManager manager(&context);
    nn::buildNNPipeline(manager, options);
    dist::buildDistPipeline(manager);
    manager.addPass(step::createDistToStepPass());
    manager.addPass(codegen::createCodegenFusePass({.epilogues = epilogues}));
    if (!module || failed(manager.run(*module)))
      module = nullptr;
  }

  step::ProgramOp program() { return *module->getOps<step::ProgramOp>().begin(); }

  void run(step::BodyKind kind) {
    llvm::DenseMap<Value, HostTensor> values;
    for (Operation &op : program().findBody(kind, 0).getBody().front()) {
      if (auto load = dyn_cast<step::LoadOp>(op)) {
        values[load.getValue()] = at(load.getBuffer());
      } else if (auto store = dyn_cast<step::StoreOp>(op)) {
        at(store.getBuffer()) = values[store.getValue()];
      } else if (auto launch = dyn_cast<step::LaunchOp>(op)) {
        std::vector<HostTensor> inputs;
        for (Value input : launch.getInputs())
          inputs.push_back(values[input]);
        auto results = evaluateKernel(module->lookupSymbol<func::FuncOp>(launch.getKernel()), inputs);
        for (auto [result, made] : llvm::zip_equal(launch.getResults(), results))
          values[result] = made;
      } else {
        multiply(cast<step::GemmOp>(op), values);
      }
    }
  }

  /// What buffers hold, by name; they begin with numbers drawn by name, integers as tokens, accumulators as zeros.
  std::map<std::string, HostTensor> buffers;
  std::map<std::string, int> counted; ///< epilogues of the products that were run
  bool sound() const { return module.get() != nullptr; }

private:
  HostTensor &at(Value value) {
    auto buffer = value.getDefiningOp<step::BufferOp>();
    auto type = cast<MemRefType>(value.getType());
    auto [it, fresh] = buffers.try_emplace(buffer.getName().str(), HostTensor(type.getShape()));
    if (fresh) {
      std::mt19937 random(static_cast<unsigned>(llvm::xxh3_64bits(buffer.getName())));
      std::normal_distribution<double> normal(0, 0.2);
      for (double &number : it->second.data)
        number = type.getElementType().isInteger() ? random() % 40 : normal(random);
      nn::roundTo(type.getElementType(), it->second);
    }
    return it->second;
  }

  void multiply(step::GemmOp op, llvm::DenseMap<Value, HostTensor> &values) {
    auto type = [](Value value) { return cast<RankedTensorType>(value.getType()); };
    runtime::Gemm gemm{op.getTransA(), op.getTransB(), bool(op.getC()), op.getMnk()[0], op.getMnk()[1], op.getMnk()[2]};
    gemm.lda = op.getLeading()[0], gemm.ldb = op.getLeading()[1], gemm.ldc = op.getLeading()[2];
    gemm.type = gemmType(type(op.getA()).getElementType());
    gemm.resultType = gemmType(type(op.getResult(0)).getElementType());
    if (op.getEpilogue()) {
      gemm.epilogue = static_cast<runtime::GemmEpilogue>(*op.getEpilogue());
      ++counted[stringifyEpilogue(*op.getEpilogue()).str()];
    }
    std::vector<HostBuffer> inputs, results;
    for (Value value : {op.getA(), op.getB(), op.getExtra()})
      if (value)
        inputs.emplace_back(type(value), values[value]);
    for (Value result : op.getResults())
      results.emplace_back(type(result));
    if (op.getC())
      results[0] = HostBuffer(type(op.getC()), values[op.getC()]);
    runtime::GemmBuffers buffers{inputs[0].bytes.data(), inputs[1].bytes.data(), results[0].bytes.data()};
    void *extra = op.getExtra() ? inputs[2].bytes.data() : nullptr;
    void *second = results.size() > 1 ? results[1].bytes.data() : nullptr;
    buffers.bias = hasBias(gemm.epilogue) ? extra : nullptr;
    buffers.before = !hasBefore(gemm.epilogue) ? nullptr : writesBefore(gemm.epilogue) ? second : extra;
    buffers.sum = hasSum(gemm.epilogue) ? second : nullptr;
    runtime::emulator::plainGemm(gemm, buffers);
    for (auto [result, made] : llvm::zip_equal(op.getResults(), results)) {
      EXPECT_TRUE(made.guardHolds());
      values[result] = made.values();
    }
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
};

using Counts = std::map<std::string, int>;

/// Runs `kinds` of bodies with epilogues, which are `expected`, and without; what buffers hold then is the same within
/// `tolerance`.
void checkBodies(const std::string &precision, const char *plan, std::initializer_list<step::BodyKind> kinds,
                 const Counts &expected, double tolerance) {
  SCOPED_TRACE(precision + " " + plan);
  Bodies with(precision, plan, true), without(precision, plan, false);
  ASSERT_TRUE(with.sound() && without.sound());
  for (Bodies *each : {&with, &without})
    for (step::BodyKind kind : kinds)
      each->run(kind);
  EXPECT_EQ(with.counted, expected);
  EXPECT_TRUE(without.counted.empty());
  for (auto &[name, values] : without.buffers) {
    ASSERT_TRUE(with.buffers.count(name)) << name;
    EXPECT_LE(relativeError(with.buffers[name], values), tolerance) << name;
  }
  for (const char *moved : {"h.0.mlp.fc.bias.acc", "h.0.side.up.weight.acc"})
    if (llvm::is_contained(kinds, step::BodyKind::Backward))
      EXPECT_GT(std::abs(with.buffers.at(moved)[0]), 0) << moved;
}

using enum step::BodyKind;

// Of two layers: three biases, gelu with and without one forward and backward, four weights with biases.
TEST(EpilogueBodies, EqualTheOpsOneByOne) {
  Counts counts{{"bias", 6}, {"bias_gelu", 2}, {"gelu", 2}, {"gelu_grad", 4}, {"sum_b", 8}};
  checkBodies("f32", "single", {Begin, Forward, Backward}, counts, 1e-5);
  checkBodies("bf16", "single", {Begin, Forward, Backward}, counts, 2e-2);
}

// Forward keeps nothing of what was before gelu. Backward makes a layer again but for its last product.
TEST(EpilogueBodies, EqualTheOpsWithRecomputation) {
  Counts counts{{"bias", 10}, {"bias_gelu", 4}, {"gelu", 4}, {"gelu_grad", 4}, {"sum_b", 8}};
  checkBodies("f32", "again", {Begin, Forward, Backward}, counts, 1e-5);
}

// Nobody reads what was before gelu.
TEST(EpilogueBodies, EqualTheOpsInEvaluation) {
  for (const char *plan : {"single", "again"})
    checkBodies("f32", plan, {Begin, Forward, Evaluate}, {{"bias", 6}, {"bias_gelu", 2}, {"gelu", 2}}, 1e-5);
}
} // namespace
