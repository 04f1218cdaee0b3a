// Trains by reference semantics: state from the seed, batches in, loss, norm, gradients and parameters out, as whole
// tensors whatever the program is: global on one rank, or partitioned on N ranks in lockstep.
#pragma once
#include "passes/Interpreter/Machine.h"

namespace hocket::interpreter {

/// How slots of a partitioned program relate to whole tensors. The default is one rank that holds everything.
struct SlotLayout {
  /// What the slot holds in one piece.
  std::function<mlir::RankedTensorType(nn::SlotOp)> globalType = [](nn::SlotOp slot) {
    return mlir::cast<mlir::RankedTensorType>(slot.getType());
  };
  /// Each rank's piece; padding is NaN, so that a mask that is missing shows.
  std::function<PerRank(nn::SlotOp, const nn::HostTensor &)> scatter = [](nn::SlotOp, const nn::HostTensor &whole) {
    return PerRank{whole};
  };
  /// The whole of the pieces (partial ones added). Fails, with an error, where ranks that must agree do not.
  std::function<llvm::FailureOr<nn::HostTensor>(nn::SlotOp, const PerRank &)> gather =
      [](nn::SlotOp, const PerRank &pieces) -> llvm::FailureOr<nn::HostTensor> { return pieces[0]; };
  /// The same for what an op makes.
  std::function<llvm::FailureOr<nn::HostTensor>(mlir::OpResult, const PerRank &)> gatherValue =
      [](mlir::OpResult, const PerRank &pieces) -> llvm::FailureOr<nn::HostTensor> { return pieces[0]; };
};

/// What a layer's router chose: for each token, by microbatch, sequence and position, `top` experts, ascending.
struct Choices {
  int64_t top = 0;
  std::vector<int64_t> experts;
};

/// The inputs of one step: [microbatches, rows, sequence] token ids, labels (-1: not counted), and where the model
/// reads them the number of each token's document.
struct Batch {
  nn::HostTensor tokens, labels, documents;
};
/// `rows` * `microbatches` sequences from a stream of tokens, in order from sequence number `first`: sequence i is
/// tokens [i s, i s + s), its labels the tokens that follow. The stream has at least (first + rows * microbatches) * s
/// + 1 tokens.
Batch cutBatch(llvm::ArrayRef<int32_t> tokens, int64_t first, int64_t microbatches, int64_t rows, int64_t sequence);

struct StepResult {
  double loss = 0, gradNorm = 0, learningRate = 0, tokens = 0;
  double lossScale = 1, skipped = 0, exhausted = 0; ///< as they stand where the recipe has no loss scale
};

class Interpreter {
public:
  Interpreter(nn::TrainingStepOp step, RankGrid grid = {}, const LockstepOps *ops = nullptr, SlotLayout layout = {},
              Precision precision = Precision::Float64);

  /// The slots of the state table from (seed, name, element), as the runtime makes them; rounded as `precision` says.
  void initialize(uint64_t seed);
  /// Replaces what a slot of the state table holds by a whole tensor. False if there is no such slot.
  bool setState(nn::SlotKind kind, llvm::StringRef name, const nn::HostTensor &whole);

  /// One step; steps count from 1. Fails with an error where an op has no meaning or ranks disagree.
  llvm::FailureOr<StepResult> train(const Batch &batch);
  /// The loss of a batch by the forward alone; the state stays as it is.
  llvm::FailureOr<double> evaluate(const Batch &batch);

  /// See Machine::routerMargin.
  double routerMargin() const { return machine.routerMargin(); }

  /// Keeps, from now on, what routers choose, by layer. A step then fails, with an error, where ranks that route the
  /// same tokens have logits that differ in a bit.
  void recordChoices();
  const std::map<std::string, Choices> &choices() const { return chosen; }

  /// Whole tensors, by name. Gradients are those of the last step before clipping: a parameter's accumulators in use
  /// order.
  llvm::FailureOr<nn::HostTensor> state(nn::SlotKind kind, llvm::StringRef name);
  llvm::FailureOr<nn::HostTensor> gradient(llvm::StringRef param);
  /// Names of all parameters, and of those that are trained, in the model's order.
  llvm::SmallVector<std::string> parameters(bool trainedOnly = false);

private:
  llvm::LogicalResult begin(const Batch &batch);
  llvm::LogicalResult microbatches(const Batch &batch, bool forwardOnly);
  nn::HostTensor drawsOf(int64_t rows, int64_t microbatch, bool forwardOnly) const;
  void put(nn::SlotOp slot, const nn::HostTensor &whole);
  llvm::FailureOr<double> output(llvm::StringRef name);
  llvm::StringRef argument(int64_t index); ///< name of the slot of tokens (0), labels (1), documents (2); empty

  Machine machine;
  SlotLayout layout;
  std::map<std::string, Choices> chosen;
  Precision precision;
  int64_t stepNumber = 0;
  uint64_t seed = 0; ///< of the last initialize
};
} // namespace hocket::interpreter
