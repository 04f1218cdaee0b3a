// Rules of products: their form, and the GEMM they stand for.
#include "dialect/NN/Contraction.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
using namespace mlir;

namespace hocket::nn {
namespace {
struct Operand {
  StringRef name;
  SmallVector<StringRef> dims;
  bool has(StringRef dim) const { return llvm::is_contained(dims, dim); }
};

/// The names of `operand` that lie in all of `in` and none of `out`, in order.
SmallVector<StringRef> namesOf(const Operand &operand, ArrayRef<const Operand *> in, ArrayRef<const Operand *> out) {
  SmallVector<StringRef> names;
  for (StringRef dim : operand.dims)
    if (llvm::all_of(in, [&](const Operand *each) { return each->has(dim); }) &&
        llvm::none_of(out, [&](const Operand *each) { return each->has(dim); }))
      names.push_back(dim);
  return names;
}

bool standTogether(const Operand &operand, ArrayRef<StringRef> names) {
  if (names.empty())
    return true;
  auto first = llvm::find(operand.dims, names.front());
  return operand.dims.end() - first >= static_cast<int64_t>(names.size()) &&
         llvm::equal(names, llvm::make_range(first, first + names.size()));
}

/// A group of names must stand together and in one order in every tensor of `in`.
void checkGroup(StringRef group, ArrayRef<const Operand *> in, ArrayRef<const Operand *> out,
                SmallVectorImpl<std::string> &faults) {
  SmallVector<StringRef> first = namesOf(*in.front(), in, out);
  for (const Operand *each : in) {
    SmallVector<StringRef> names = namesOf(*each, in, out);
    if (!standTogether(*each, names))
      faults.push_back(llvm::formatv("{0} dimensions '{1}' do not stand together in {2} ('{3}')", group,
                                     llvm::join(names, " "), each->name, llvm::join(each->dims, " ")));
    else if (names != first)
      faults.push_back(llvm::formatv("{0} dimensions stand as '{1}' in {2} and as '{3}' in {4}", group,
                                     llvm::join(first, " "), in.front()->name, llvm::join(names, " "), each->name));
  }
}

bool isName(StringRef word) {
  return !word.empty() && llvm::isAlpha(word[0]) &&
         llvm::all_of(word, [](char c) { return llvm::isAlnum(c) || c == '_'; });
}

/// "b s h" as names; faults for what is no name or stands twice. `mayBeScalar`: "_" stands for no dimensions.
Operand readOperand(StringRef name, StringRef term, bool mayBeScalar, SmallVectorImpl<std::string> &faults) {
  Operand operand{name, {}};
  SmallVector<StringRef> words;
  llvm::SplitString(term, words);
  if (mayBeScalar && words.size() == 1 && words[0] == "_")
    return operand;
  if (words.empty())
    faults.push_back(llvm::formatv("the rule has no names for {0}", name));
  for (StringRef word : words) {
    if (!isName(word))
      faults.push_back(llvm::formatv("'{0}' is not a name of letters and digits", word));
    else if (operand.has(word))
      faults.push_back(llvm::formatv("'{0}' stands twice in {1}", word, name));
    operand.dims.push_back(word);
  }
  return operand;
}
} // namespace

SmallVector<std::string> contractionFaults(StringRef rule) {
  SmallVector<std::string> faults;
  SmallVector<StringRef> sides, terms;
  rule.split(sides, "->");
  sides.front().split(terms, ',');
  if (sides.size() != 2 || terms.size() != 2 || sides[1].contains(',')) {
    faults.push_back(llvm::formatv("rule '{0}' has not the form 'a, b -> y', each a list of names", rule));
    return faults;
  }
  Operand a = readOperand("a", terms[0], false, faults), b = readOperand("b", terms[1], false, faults),
          y = readOperand("y", sides[1], true, faults);
  if (!faults.empty())
    return faults;
  for (const Operand *each : {&a, &b, &y})
    for (StringRef dim : each->dims)
      if (a.has(dim) + b.has(dim) + y.has(dim) == 1)
        faults.push_back(llvm::formatv("'{0}' stands in {1} only", dim, each->name));
  if (!faults.empty())
    return faults;
  checkGroup("contracted", {&a, &b}, {&y}, faults);
  checkGroup("kept", {&a, &y}, {&b}, faults);
  checkGroup("kept", {&b, &y}, {&a}, faults);
  checkGroup("batch", {&a, &b, &y}, {}, faults);
  return faults;
}

Contraction::Contraction(const FactorRule &rule, ArrayRef<int64_t> a, ArrayRef<int64_t> b, ArrayRef<int64_t> y) {
  auto groupOf = [&](int factor) -> ContractionIndex & {
    bool inA = llvm::is_contained(rule.operands[0], factor), inB = llvm::is_contained(rule.operands[1], factor);
    if (inA && inB)
      return llvm::is_contained(rule.results[0], factor) ? batch : depth;
    return inA ? rows : columns;
  };
  // Walking a tensor from its last dimension, the first one met of a group gives its stride.
  auto setStrides = [&](ArrayRef<int> term, ArrayRef<int64_t> shape, int64_t ContractionIndex::*stride) {
    int64_t step = 1;
    for (size_t dim = shape.size(); dim-- > 0; step *= shape[dim])
      if (int64_t &of = groupOf(term[dim]).*stride; of == 0)
        of = step;
  };
  setStrides(rule.operands[0], a, &ContractionIndex::strideA);
  setStrides(rule.operands[1], b, &ContractionIndex::strideB);
  setStrides(rule.results[0], y, &ContractionIndex::strideY);
  for (auto [dim, factor] : llvm::enumerate(rule.operands[0]))
    groupOf(factor).size *= a[dim];
  for (auto [dim, factor] : llvm::enumerate(rule.operands[1]))
    if (!llvm::is_contained(rule.operands[0], factor))
      columns.size *= b[dim];
}
} // namespace hocket::nn
