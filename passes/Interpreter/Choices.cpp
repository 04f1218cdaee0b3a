// What routers choose, kept as whole tensors are: in the order of microbatches, sequences and positions, so that two
// plans may be compared token by token.
#include "dialect/NN/Router.h"
#include "passes/Interpreter/Interpreter.h"
#include <numeric>
using namespace mlir;
using namespace hocket::nn;

namespace hocket::interpreter {

/// Appends the choices of all tokens; `positions` say in which order a plan keeps the tokens of a sequence.
static void append(Choices &choices, const HostTensor &logits, const HostTensor &positions) {
  int64_t tokens = logits.shape[1], experts = logits.shape[2];
  for (int64_t b = 0; b < logits.shape[0]; ++b) {
    std::vector<int64_t> order(static_cast<size_t>(tokens));
    std::iota(order.begin(), order.end(), 0);
    llvm::stable_sort(order,
                      [&](int64_t x, int64_t y) { return positions[b * tokens + x] < positions[b * tokens + y]; });
    for (int64_t token : order) {
      SmallVector<int64_t> chosen = greatest(&logits.data[(b * tokens + token) * experts], experts, choices.top);
      llvm::sort(chosen);
      choices.experts.insert(choices.experts.end(), chosen.begin(), chosen.end());
    }
  }
}

void Interpreter::recordChoices() {
  chosen.clear();
  machine.setOnRouter([this](RouterOp router, const PerRank &logits, const PerRank &positions) -> LogicalResult {
    FailureOr<HostTensor> all = layout.gatherValue(cast<OpResult>(router.getLogits()), logits);
    FailureOr<HostTensor> places = layout.gatherValue(cast<OpResult>(router.getPositions()), positions);
    if (failed(all) || failed(places))
      return failure();
    Choices &choices = chosen[getPath(router).str()];
    choices.top = router.getTopAttr().getInt();
    append(choices, *all, *places);
    return success();
  });
}
} // namespace hocket::interpreter
