// How far two trainings of one model are apart.
#include "passes/Interpreter/Comparison.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>
#include <limits>
using namespace mlir;
using namespace hocket::nn;

namespace hocket::interpreter {

TensorDifference differ(StringRef name, const HostTensor &reference, const HostTensor &other) {
  constexpr double infinite = std::numeric_limits<double>::infinity();
  TensorDifference result{name.str(), infinite, infinite, 0};
  if (reference.shape != other.shape)
    return result;
  double squares = 0, differences = 0;
  for (int64_t i = 0; i < reference.size(); ++i) {
    squares += reference[i] * reference[i];
    differences += (other[i] - reference[i]) * (other[i] - reference[i]);
  }
  result.reference = std::sqrt(squares);
  if (!std::isfinite(squares) || !std::isfinite(differences))
    return result;
  result.absolute = std::sqrt(differences);
  result.relative = result.absolute == 0 ? 0 : result.absolute / result.reference;
  return result;
}

FailureOr<SmallVector<TensorDifference>> compare(Interpreter &reference, Interpreter &other) {
  SmallVector<TensorDifference> differences;
  auto add = [&](const Twine &name, FailureOr<HostTensor> a, FailureOr<HostTensor> b) {
    if (failed(a) || failed(b))
      return failure();
    differences.push_back(differ(name.str(), *a, *b));
    return success();
  };
  for (const std::string &name : reference.parameters(/*trainedOnly=*/true))
    if (failed(add("gradient " + name, reference.gradient(name), other.gradient(name))))
      return failure();
  for (const std::string &name : reference.parameters())
    if (failed(add("param " + name, reference.state(SlotKind::Param, name), other.state(SlotKind::Param, name))))
      return failure();
  return differences;
}

SmallVector<ChoiceDifference> compareChoices(const Interpreter &reference, const Interpreter &other) {
  SmallVector<ChoiceDifference> differences;
  for (auto &[layer, choices] : reference.choices()) {
    auto found = other.choices().find(layer);
    ChoiceDifference difference{layer, static_cast<int64_t>(choices.experts.size()) / choices.top, 0};
    bool sameCount = found != other.choices().end() && found->second.experts.size() == choices.experts.size();
    for (int64_t token = 0; token < difference.tokens; ++token) {
      auto of = [&](const Choices &all) { return ArrayRef(all.experts).slice(token * choices.top, choices.top); };
      difference.elsewhere += !sameCount || of(choices) != of(found->second);
    }
    differences.push_back(difference);
  }
  return differences;
}

std::string reportText(ArrayRef<ChoiceDifference> differences) {
  std::string text;
  for (const ChoiceDifference &d : differences)
    text += llvm::formatv("choices {0,-32} {1} of {2} tokens go to other experts\n", d.layer, d.elsewhere, d.tokens);
  return text;
}

std::string reportText(ArrayRef<TensorDifference> differences) {
  SmallVector<const TensorDifference *> sorted = llvm::map_to_vector(differences, [](auto &d) { return &d; });
  llvm::sort(sorted, [](auto *a, auto *b) { return std::tie(b->relative, a->name) < std::tie(a->relative, b->name); });
  std::string text;
  for (const TensorDifference *d : sorted)
    text += llvm::formatv("{0,-40} relative {1:e3}  absolute {2:e3}  reference {3:e3}\n", d->name, d->relative,
                          d->absolute, d->reference)
                .str();
  return text;
}
} // namespace hocket::interpreter
