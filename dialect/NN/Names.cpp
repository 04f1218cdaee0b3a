// Names of parameters: patterns, and the nearest to a misspelt one.
#include "dialect/NN/NN.h"
#include "llvm/ADT/StringExtras.h"
using namespace mlir;

namespace hocket::nn {

/// Backtracks only to the last `**`, which is enough: a later `**` can take whatever an earlier one would have.
static bool matches(ArrayRef<StringRef> pattern, ArrayRef<StringRef> name) {
  size_t p = 0, n = 0, star = pattern.size(), resume = 0;
  while (n < name.size()) {
    if (p < pattern.size() && pattern[p] == "**") {
      star = p++;
      resume = n;
    } else if (p < pattern.size() && (pattern[p] == "*" || pattern[p] == name[n])) {
      ++p;
      ++n;
    } else if (star < pattern.size()) {
      p = star + 1;
      n = ++resume;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == "**")
    ++p;
  return p == pattern.size();
}

bool matchesName(StringRef pattern, StringRef name) {
  SmallVector<StringRef> patternParts, nameParts;
  pattern.split(patternParts, '.');
  name.split(nameParts, '.');
  return matches(patternParts, nameParts);
}

StringRef nearestName(StringRef name, ArrayRef<StringRef> known) {
  // Up to a third of the letters wrong (two at least) is a slip; more is another name.
  unsigned best = std::max<unsigned>(2, name.size() / 3) + 1;
  StringRef nearest;
  for (StringRef candidate : known) {
    unsigned distance = name.edit_distance(candidate, /*AllowReplacements=*/true, best);
    if (distance < best && distance < candidate.size()) {
      best = distance;
      nearest = candidate;
    }
  }
  return nearest;
}

std::string knownNames(StringRef name, ArrayRef<StringRef> known) {
  if (known.empty())
    return " (there is none)";
  if (StringRef nearest = nearestName(name, known); !nearest.empty())
    return (" (nearest: " + nearest + ")").str();
  return " (known: " + llvm::join(known, ", ") + ")";
}

bool isName(StringRef name) {
  SmallVector<StringRef> parts;
  name.split(parts, '.');
  return llvm::all_of(parts, [](StringRef part) {
    return !part.empty() && llvm::all_of(part, [](char c) { return llvm::isAlnum(c) || c == '_' || c == '-'; });
  });
}

int64_t resultElements(Operation *op) {
  int64_t elements = 0;
  for (Type type : op->getResultTypes()) {
    int64_t product = 1;
    if (auto tensor = dyn_cast<RankedTensorType>(type))
      for (int64_t dim : tensor.getShape())
        product *= ShapedType::isDynamic(dim) ? 1 : dim;
    elements += product;
  }
  return elements;
}
} // namespace hocket::nn
