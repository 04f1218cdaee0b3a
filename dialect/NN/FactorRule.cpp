// Reads, prints and checks factor rules.
#include "dialect/NN/NN.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
using namespace mlir;

namespace hocket::nn {
using Term = SmallVector<int>;

int64_t onlyOffsetFactor(Operation *op, unsigned operand) {
  if (!op->getOperand(operand).getType().isInteger(64))
    return -1;
  FactorRule rule = cast<FactorOpInterface>(op).getFactorRule();
  auto found = llvm::find_if(rule.factors, [](const Factor &factor) { return factor.needsOffset; });
  return found == rule.factors.end() ? -1 : found - rule.factors.begin();
}

static ArrayRef<int64_t> shapeOf(Type type) {
  auto shaped = dyn_cast<RankedTensorType>(type);
  return shaped ? shaped.getShape() : ArrayRef<int64_t>();
}

/// The factor that `word` names ("h", "!h", "@v"), made when it is new, with the size of the dimension it stands for.
static int readFactor(FactorRule &rule, StringRef word, int64_t size) {
  bool whole = false, needsOffset = false;
  for (; !word.empty() && (word[0] == '!' || word[0] == '@'); word = word.drop_front())
    (word[0] == '!' ? whole : needsOffset) = true;
  int index = rule.find(word);
  if (index < 0) {
    index = static_cast<int>(rule.factors.size());
    rule.factors.push_back({word.str(), size, false, false});
  }
  Factor &factor = rule.factors[index];
  factor.whole |= whole;
  factor.needsOffset |= needsOffset;
  if (ShapedType::isDynamic(factor.size))
    factor.size = size;
  return index;
}

static void readTerms(FactorRule &rule, StringRef text, TypeRange types, SmallVectorImpl<Term> &terms) {
  if (text.trim().empty())
    return;
  SmallVector<StringRef> parts, words;
  text.split(parts, ',');
  for (auto [i, part] : llvm::enumerate(parts)) {
    Term &term = terms.emplace_back();
    ArrayRef<int64_t> shape = i < types.size() ? shapeOf(types[i]) : ArrayRef<int64_t>();
    words.clear();
    part.split(words, ' ', -1, /*KeepEmpty=*/false);
    for (StringRef word : words)
      if (word != "_")
        term.push_back(readFactor(rule, word, term.size() < shape.size() ? shape[term.size()] : 1));
  }
}

FactorRule FactorRule::parse(Operation *op, StringRef text) {
  FactorRule rule;
  size_t arrow = text.find("->");
  StringRef right = arrow == StringRef::npos ? StringRef() : text.drop_front(arrow + 2);
  readTerms(rule, text.take_front(arrow), op->getOperandTypes(), rule.operands);
  readTerms(rule, right, op->getResultTypes(), rule.results);
  rule.linearity.assign(rule.operands.size(), Linearity::None);
  return rule;
}

FactorRule &FactorRule::linear(ArrayRef<Linearity> each) {
  linearity.assign(each.begin(), each.end());
  return *this;
}

FactorRule &FactorRule::reducedBy(ReductionKind kind) {
  reduction = kind;
  constexpr double infinity = std::numeric_limits<double>::infinity();
  padding = kind == ReductionKind::Max ? -infinity : kind == ReductionKind::Min ? infinity : 0;
  return *this;
}

FactorRule &FactorRule::padded(double value) {
  padding = value;
  return *this;
}

int FactorRule::find(StringRef name) const {
  for (auto [i, factor] : llvm::enumerate(factors))
    if (factor.name == name)
      return static_cast<int>(i);
  return -1;
}

std::string FactorRule::str() const {
  auto side = [&](ArrayRef<Term> terms) {
    return llvm::join(llvm::map_range(terms,
                                      [&](const Term &term) -> std::string {
                                        if (term.empty())
                                          return "_";
                                        return llvm::join(
                                            llvm::map_range(term,
                                                            [&](int index) {
                                                              const Factor &factor = factors[index];
                                                              return std::string(factor.whole ? "!" : "") +
                                                                     (factor.needsOffset ? "@" : "") + factor.name;
                                                            }),
                                            " ");
                                      }),
                      ", ");
  };
  std::string left = side(operands);
  return left + (left.empty() ? "-> " : " -> ") + side(results);
}

static std::string sizeText(int64_t size) { return ShapedType::isDynamic(size) ? "?" : std::to_string(size); }

/// Faults of the terms of one side; `what` is "operand" or "result".
static std::string checkSide(const FactorRule &rule, ArrayRef<Term> terms, TypeRange types, StringRef what) {
  if (terms.size() != types.size())
    return llvm::formatv("factor rule '{0}' has {1} {2} terms, the op has {3} {2}s", rule.str(), terms.size(), what,
                         types.size());
  for (auto [i, term] : llvm::enumerate(terms)) {
    ArrayRef<int64_t> shape = shapeOf(types[i]);
    if (term.size() != shape.size())
      return llvm::formatv("factor rule '{0}' gives {1} {2} {3} dimensions, it has {4}", rule.str(), what, i,
                           term.size(), shape.size());
    for (auto [dim, index] : llvm::enumerate(term)) {
      const Factor &factor = rule.factors[index];
      if (llvm::count(term, index) > 1)
        return llvm::formatv("factor rule '{0}' has '{1}' twice in {2} {3}", rule.str(), factor.name, what, i);
      if (shape[dim] != factor.size && !ShapedType::isDynamic(shape[dim]))
        return llvm::formatv("factor '{0}' of '{1}' is {2} and, in dimension {3} of {4} {5}, {6}", factor.name,
                             rule.str(), sizeText(factor.size), dim, what, i, sizeText(shape[dim]));
    }
  }
  return {};
}

std::string checkFactorRule(Operation *op, const FactorRule &rule) {
  std::string fault = checkSide(rule, rule.operands, op->getOperandTypes(), "operand");
  if (fault.empty())
    fault = checkSide(rule, rule.results, op->getResultTypes(), "result");
  if (fault.empty() && rule.linearity.size() != rule.operands.size())
    fault = llvm::formatv("factor rule '{0}' says of {1} operands how it is linear, the op has {2}", rule.str(),
                          rule.linearity.size(), rule.operands.size());
  return fault;
}

std::string factorNames(StringRef prefix, int64_t count, int64_t first) {
  std::string names;
  for (int64_t i = first; i < first + count; ++i)
    names += (i == first ? "" : " ") + prefix.str() + std::to_string(i);
  return names;
}
} // namespace hocket::nn
