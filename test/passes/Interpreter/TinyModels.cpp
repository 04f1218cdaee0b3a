// Models small enough for finite differences.
#include "test/passes/Interpreter/TinyModels.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "passes/NN/Passes.h"
#include "llvm/Support/FormatVariadic.h"
#include <random>
using namespace mlir;

namespace hocket::testing {

const char *const tinyGpt = R"mlir(
nn.block @layer(%x: tensor<?x5x8xf32>, %pos: tensor<?x5xi32>) -> tensor<?x5x8xf32> {
  %g1 = param "ln_1.weight" : tensor<8xf32> init ones
  %b1 = param "ln_1.bias" : tensor<8xf32> init normal(0.2)
  %qkv_w = param "attn.qkv.weight" : tensor<8x3x2x4xf32> init normal(0.4)
  %qkv_b = param "attn.qkv.bias" : tensor<3x2x4xf32> init normal(0.2)
  %proj_w = param "attn.proj.weight" : tensor<2x4x8xf32> init normal(0.4)
  %n1 = layer_norm %x, %g1, %b1 : tensor<?x5x8xf32>, tensor<8xf32>, tensor<8xf32> -> tensor<?x5x8xf32>
  %qkv0 = linear %n1, %qkv_w : tensor<?x5x8xf32>, tensor<8x3x2x4xf32> -> tensor<?x5x3x2x4xf32>
  %qkv = add %qkv0, %qkv_b : tensor<?x5x3x2x4xf32>, tensor<3x2x4xf32> -> tensor<?x5x3x2x4xf32>
  %q, %k, %v = unstack %qkv dim 2 : tensor<?x5x3x2x4xf32> -> tensor<?x5x2x4xf32>, tensor<?x5x2x4xf32>, tensor<?x5x2x4xf32>
  %a = attention %q, %k, %v at %pos, %pos causal scale(0.5) : tensor<?x5x2x4xf32>, tensor<?x5x2x4xf32>, tensor<?x5x2x4xf32>, tensor<?x5xi32>, tensor<?x5xi32> -> tensor<?x5x2x4xf32>
  %p = linear %a, %proj_w : tensor<?x5x2x4xf32>, tensor<2x4x8xf32> -> tensor<?x5x8xf32>
  %r = add %x, %p : tensor<?x5x8xf32>, tensor<?x5x8xf32> -> tensor<?x5x8xf32>
  %fc_w = param "mlp.fc.weight" : tensor<8x16xf32> init normal(0.4)
  %fc_b = param "mlp.fc.bias" : tensor<16xf32> init normal(0.2)
  %out_w = param "mlp.proj.weight" : tensor<16x8xf32> init normal(0.4)
  %f0 = linear %r, %fc_w : tensor<?x5x8xf32>, tensor<8x16xf32> -> tensor<?x5x16xf32>
  %f1 = add %f0, %fc_b : tensor<?x5x16xf32>, tensor<16xf32> -> tensor<?x5x16xf32>
  %f = gelu %f1 : tensor<?x5x16xf32> -> tensor<?x5x16xf32>
  %o = linear %f, %out_w : tensor<?x5x16xf32>, tensor<16x8xf32> -> tensor<?x5x8xf32>
  %y = add %r, %o : tensor<?x5x8xf32>, tensor<?x5x8xf32> -> tensor<?x5x8xf32>
  return %y : tensor<?x5x8xf32>
}
nn.model @model(%tokens: tensor<?x5xi32>, %next: tensor<?x5xi32>) -> (tensor<f32>, tensor<i64>) {
  %wte = param "wte" : tensor<11x8xf32> init normal(0.5)
  %wpe = param "wpe" : tensor<5x8xf32> init normal(0.5)
  %pos = positions : tensor<?x5xi32>
  %te = embedding %tokens, %wte : tensor<?x5xi32>, tensor<11x8xf32> -> tensor<?x5x8xf32>
  %pe = embedding %pos, %wpe : tensor<?x5xi32>, tensor<5x8xf32> -> tensor<?x5x8xf32>
  %x = add %te, %pe : tensor<?x5x8xf32>, tensor<?x5x8xf32> -> tensor<?x5x8xf32>
  %y = repeat @layer(%x, %pos) 2 as "h" : tensor<?x5x8xf32>, tensor<?x5xi32> -> tensor<?x5x8xf32>
  %logits = linear transposed %y, %wte : tensor<?x5x8xf32>, tensor<11x8xf32> -> tensor<?x5x11xf32>
  %sum, %count = cross_entropy %logits, %next : tensor<?x5x11xf32>, tensor<?x5xi32> -> tensor<f32>, tensor<i64>
  return %sum, %count : tensor<f32>, tensor<i64>
}
)mlir";

const char *const tinyMoe = R"mlir(
nn.block @layer(%x: tensor<?x5x8xf32>, %pos: tensor<?x5xi32>) -> tensor<?x5x8xf32> {
  %qkv_w = param "attn.qkv.weight" : tensor<8x3x2x4xf32> init normal(0.4)
  %proj_w = param "attn.proj.weight" : tensor<2x4x8xf32> init normal(0.4)
  %qkv = linear %x, %qkv_w : tensor<?x5x8xf32>, tensor<8x3x2x4xf32> -> tensor<?x5x3x2x4xf32>
  %q, %k, %v = unstack %qkv dim 2 : tensor<?x5x3x2x4xf32> -> tensor<?x5x2x4xf32>, tensor<?x5x2x4xf32>, tensor<?x5x2x4xf32>
  %a = attention %q, %k, %v at %pos, %pos causal scale(0.5) : tensor<?x5x2x4xf32>, tensor<?x5x2x4xf32>, tensor<?x5x2x4xf32>, tensor<?x5xi32>, tensor<?x5xi32> -> tensor<?x5x2x4xf32>
  %p = linear %a, %proj_w : tensor<?x5x2x4xf32>, tensor<2x4x8xf32> -> tensor<?x5x8xf32>
  %r = add %x, %p : tensor<?x5x8xf32>, tensor<?x5x8xf32> -> tensor<?x5x8xf32>
  %g2 = param "moe_norm.weight" : tensor<8xf32> init ones
  %n = rms_norm %r, %g2 : tensor<?x5x8xf32>, tensor<8xf32> -> tensor<?x5x8xf32>
  %gate_w = param "moe.gate.weight" : tensor<8x4xf32> init normal(0.7)
  %up_w = param "moe.experts.up.weight" : tensor<4x8x2x6xf32> init normal(0.4)
  %down_w = param "moe.experts.down.weight" : tensor<4x6x8xf32> init normal(0.4)
  %shared_w = param "moe.shared.weight" : tensor<8x8xf32> init normal(0.3)
  %l = router_logits %n, %gate_w : tensor<?x5x8xf32>, tensor<8x4xf32> -> tensor<?x5x4xf32>
  %w, %s, %t, %load = router %l at %pos top 2 normalized scale(1.5) : tensor<?x5x4xf32>, tensor<?x5xi32> -> tensor<?x5x2xf32>, tensor<?x5x2xi32>, tensor<?x4x3xi32>, tensor<?xf32>
  %d = dispatch %n by %s, %t : tensor<?x5x8xf32>, tensor<?x5x2xi32>, tensor<?x4x3xi32> -> tensor<4x?x3x8xf32>
  %gu = matmul %d, %up_w "e b c h, e h u f -> e b c u f" : tensor<4x?x3x8xf32>, tensor<4x8x2x6xf32> -> tensor<4x?x3x2x6xf32>
  %gg, %u = unstack %gu dim 3 : tensor<4x?x3x2x6xf32> -> tensor<4x?x3x6xf32>, tensor<4x?x3x6xf32>
  %sg = silu %gg : tensor<4x?x3x6xf32>
  %h = mul %sg, %u : tensor<4x?x3x6xf32>
  %o = matmul %h, %down_w "e b c f, e f h -> e b c h" : tensor<4x?x3x6xf32>, tensor<4x6x8xf32> -> tensor<4x?x3x8xf32>
  %routed = combine %o by %s, %t weighted %w : tensor<4x?x3x8xf32>, tensor<?x5x2xi32>, tensor<?x4x3xi32>, tensor<?x5x2xf32> -> tensor<?x5x8xf32>
  %shared = linear %n, %shared_w : tensor<?x5x8xf32>, tensor<8x8xf32> -> tensor<?x5x8xf32>
  %both = add %routed, %shared : tensor<?x5x8xf32>
  %y = add %r, %both : tensor<?x5x8xf32>
  return %y : tensor<?x5x8xf32>
}
nn.model @model(%tokens: tensor<?x5xi32>, %next: tensor<?x5xi32>) -> (tensor<f32>, tensor<i64>) {
  %wte = param "wte" : tensor<11x8xf32> init normal(0.5)
  %pos = positions : tensor<?x5xi32>
  %x = embedding %tokens, %wte : tensor<?x5xi32>, tensor<11x8xf32> -> tensor<?x5x8xf32>
  %y = repeat @layer(%x, %pos) 2 as "h" : tensor<?x5x8xf32>, tensor<?x5xi32> -> tensor<?x5x8xf32>
  %logits = linear transposed %y, %wte : tensor<?x5x8xf32>, tensor<11x8xf32> -> tensor<?x5x11xf32>
  %sum, %count = cross_entropy %logits, %next : tensor<?x5x11xf32>, tensor<?x5xi32> -> tensor<f32>, tensor<i64>
  return %sum, %count : tensor<f32>, tensor<i64>
}
)mlir";

const char *const tinyLlama = R"mlir(
nn.block @layer(%x: tensor<?x5x8xf32>, %pos: tensor<?x5xi32>) -> tensor<?x5x8xf32> {
  %g1 = param "attn_norm.weight" : tensor<8xf32> init ones
  %q_w = param "attn.q.weight" : tensor<8x2x2x4xf32> init normal(0.4)
  %kv_w = param "attn.kv.weight" : tensor<8x2x2x4xf32> init normal(0.4)
  %o_w = param "attn.o.weight" : tensor<2x2x4x8xf32> init normal(0.4)
  %n1 = rms_norm %x, %g1 : tensor<?x5x8xf32>, tensor<8xf32> -> tensor<?x5x8xf32>
  %q0 = linear %n1, %q_w : tensor<?x5x8xf32>, tensor<8x2x2x4xf32> -> tensor<?x5x2x2x4xf32>
  %kv = linear %n1, %kv_w : tensor<?x5x8xf32>, tensor<8x2x2x4xf32> -> tensor<?x5x2x2x4xf32>
  %k0, %v = unstack %kv dim 2 : tensor<?x5x2x2x4xf32> -> tensor<?x5x2x4xf32>, tensor<?x5x2x4xf32>
  %q = rope %q0 at %pos : tensor<?x5x2x2x4xf32>, tensor<?x5xi32> -> tensor<?x5x2x2x4xf32>
  %k = rope %k0 at %pos : tensor<?x5x2x4xf32>, tensor<?x5xi32> -> tensor<?x5x2x4xf32>
  %a = attention %q, %k, %v at %pos, %pos causal scale(0.5) : tensor<?x5x2x2x4xf32>, tensor<?x5x2x4xf32>, tensor<?x5x2x4xf32>, tensor<?x5xi32>, tensor<?x5xi32> -> tensor<?x5x2x2x4xf32>
  %p = linear %a, %o_w : tensor<?x5x2x2x4xf32>, tensor<2x2x4x8xf32> -> tensor<?x5x8xf32>
  %r = add %x, %p : tensor<?x5x8xf32>, tensor<?x5x8xf32> -> tensor<?x5x8xf32>
  %g2 = param "mlp_norm.weight" : tensor<8xf32> init ones
  %up_w = param "mlp.gate_up.weight" : tensor<8x2x12xf32> init normal(0.4)
  %down_w = param "mlp.down.weight" : tensor<12x8xf32> init normal(0.4)
  %n2 = rms_norm %r, %g2 : tensor<?x5x8xf32>, tensor<8xf32> -> tensor<?x5x8xf32>
  %gu = linear %n2, %up_w : tensor<?x5x8xf32>, tensor<8x2x12xf32> -> tensor<?x5x2x12xf32>
  %g, %u = unstack %gu dim 2 : tensor<?x5x2x12xf32> -> tensor<?x5x12xf32>, tensor<?x5x12xf32>
  %s = silu %g : tensor<?x5x12xf32> -> tensor<?x5x12xf32>
  %h = mul %s, %u : tensor<?x5x12xf32>, tensor<?x5x12xf32> -> tensor<?x5x12xf32>
  %d = linear %h, %down_w : tensor<?x5x12xf32>, tensor<12x8xf32> -> tensor<?x5x8xf32>
  %y = add %r, %d : tensor<?x5x8xf32>, tensor<?x5x8xf32> -> tensor<?x5x8xf32>
  return %y : tensor<?x5x8xf32>
}
nn.model @model(%tokens: tensor<?x5xi32>, %next: tensor<?x5xi32>) -> (tensor<f32>, tensor<i64>) {
  %embed = param "embed" : tensor<11x8xf32> init normal(0.5)
  %pos = positions : tensor<?x5xi32>
  %x = embedding %tokens, %embed : tensor<?x5xi32>, tensor<11x8xf32> -> tensor<?x5x8xf32>
  %y = repeat @layer(%x, %pos) 2 as "layers" : tensor<?x5x8xf32>, tensor<?x5xi32> -> tensor<?x5x8xf32>
  %g = param "norm.weight" : tensor<8xf32> init ones
  %n = rms_norm %y, %g : tensor<?x5x8xf32>, tensor<8xf32> -> tensor<?x5x8xf32>
  %head = param "head.weight" : tensor<8x11xf32> init normal(0.5)
  %logits = linear %n, %head : tensor<?x5x8xf32>, tensor<8x11xf32> -> tensor<?x5x11xf32>
  %sum, %count = cross_entropy %logits, %next : tensor<?x5x11xf32>, tensor<?x5xi32> -> tensor<f32>, tensor<i64>
  return %sum, %count : tensor<f32>, tensor<i64>
}
)mlir";

const char *const tableModel = R"mlir(
nn.model @model(%tokens: tensor<?x3xi32>, %next: tensor<?x3xi32>) -> (tensor<f32>, tensor<i64>) {
  %table = param "table" : tensor<2x2xf32> init zeros
  %logits = embedding %tokens, %table : tensor<?x3xi32>, tensor<2x2xf32> -> tensor<?x3x2xf32>
  %sum, %count = cross_entropy %logits, %next : tensor<?x3x2xf32>, tensor<?x3xi32> -> tensor<f32>, tensor<i64>
  return %sum, %count : tensor<f32>, tensor<i64>
}
)mlir";

std::string recipeFor(StringRef model, int64_t batch, StringRef extra, StringRef precision) {
  return llvm::formatv(R"mlir({0}
nn.recipe @recipe for @model {{
  batch {1} sequences
  precision {3}
  optimizer adamw(betas = [0.9, 0.95], weight_decay = 0.1)
  learning_rate cosine(peak = 1.0e-2, warmup = 2, decay = 10, floor = 1.0e-3)
  clip 1.0
  seed 7
  {2}
}
)mlir",
                       model, batch, extra, precision)
      .str();
}

Program compile(const std::string &text, int64_t microbatches, bool decomposeLoss) {
  Program program;
  program.context = std::make_unique<MLIRContext>();
  program.context->loadDialect<nn::NNDialect, arith::ArithDialect, math::MathDialect>();
  program.module = parseSourceString<ModuleOp>(text, program.context.get());
  if (!program.module)
    return program;
  PassManager manager(program.context.get());
  nn::BuildTrainingStepPassOptions options;
  options.microbatches = microbatches;
  if (decomposeLoss) {
    nn::buildNNPipeline(manager, options);
  } else {
    manager.addPass(nn::createInlineBlocksPass());
    manager.addPass(nn::createBuildTrainingStepPass(options));
  }
  if (succeeded(manager.run(*program.module)))
    program.step = *program.module->getOps<nn::TrainingStepOp>().begin();
  return program;
}

interpreter::Batch randomBatch(int64_t microbatches, int64_t rows, int64_t sequence, int64_t vocabulary,
                               unsigned seed) {
  std::mt19937 random(seed);
  int64_t shape[] = {microbatches, rows, sequence};
  interpreter::Batch batch{nn::HostTensor(shape), nn::HostTensor(shape), {}};
  for (int64_t i = 0; i < batch.tokens.size(); ++i) {
    batch.tokens[i] = random() % vocabulary;
    batch.labels[i] = random() % 4 == 0 ? -1 : static_cast<double>(random() % vocabulary);
  }
  return batch;
}
} // namespace hocket::testing
