// Models small enough for finite differences, compiled to their training step.
#pragma once
#include "dialect/NN/NN.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "passes/Interpreter/Interpreter.h"
#include <memory>

namespace hocket::testing {

/// Two layers, tied embedding, learned positions; vocabulary 11, sequence 5. Biases start away from zero.
extern const char *const tinyGpt;
/// Two layers, rope, two query heads on each of two KV heads, SwiGLU, untied head; vocabulary 11, sequence 5.
extern const char *const tinyLlama;
/// Two layers of attention, then 4 experts with three places, two for each token, and a dense one beside them; no rows
/// of 5 tokens fit all. Its recipe needs `capacity 1`. Vocabulary 11, sequence 5.
extern const char *const tinyMoe;
/// Logits are a row of a table [2, 2] for each token; sequence 3. No layers.
extern const char *const tableModel;

/// adamw, weight decay 0.1, rate 1e-2 after 2 steps of warm-up, clip 1; `extra` stands among its entries. `precision`:
/// what follows the word.
std::string recipeFor(llvm::StringRef model, int64_t batch, llvm::StringRef extra = "",
                      llvm::StringRef precision = "params f32 compute f32 accumulate f32");

struct Program {
  std::unique_ptr<mlir::MLIRContext> context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  nn::TrainingStepOp step;
};
/// Parses `text` and runs the nn pipeline. On a fault `step` is null and the fault was printed.
Program compile(const std::string &text, int64_t microbatches, bool decomposeLoss = true);

/// Tokens below `vocabulary`, and labels of which some are -1; the same for the same `seed`.
interpreter::Batch randomBatch(int64_t microbatches, int64_t rows, int64_t sequence, int64_t vocabulary, unsigned seed);
} // namespace hocket::testing
