// Shape faults in words: value found, value allowed, and the dimension that asks for it.
#include "dialect/NN/ShapeCheck.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
using namespace mlir;

namespace hocket::nn {
namespace {
/// "a b, c -> d" as terms of operands and of results.
struct Terms {
  SmallVector<StringRef> operands, results;

  explicit Terms(StringRef text) {
    auto [left, right] = text.split("->");
    auto cut = [](StringRef side, SmallVector<StringRef> &terms) {
      if (side.trim().empty())
        return;
      side.split(terms, ',');
      for (StringRef &term : terms)
        term = term.trim();
    };
    cut(left, operands);
    cut(right, results);
  }
};

SmallVector<StringRef> dimsOf(StringRef term) {
  SmallVector<StringRef> dims;
  llvm::SplitString(term, dims);
  if (dims.size() == 1 && dims[0] == "_")
    dims.clear();
  for (StringRef &dim : dims)
    dim = dim.ltrim("!@");
  return dims;
}

std::string sizeText(int64_t size) { return ShapedType::isDynamic(size) ? "?" : std::to_string(size); }
std::string plural(int64_t count, StringRef noun) {
  return (Twine(count) + " " + noun + (count == 1 ? "" : "s")).str();
}
std::string inBrackets(StringRef reason) { return reason.empty() ? "" : (" (" + reason + ")").str(); }
} // namespace

InFlightDiagnostic ShapeCheck::fault() {
  failed = true;
  return op->emitOpError();
}

ShapeCheck &ShapeCheck::fits(StringRef rule, StringRef names) {
  struct First {
    int64_t size;
    std::string where;
  };
  llvm::StringMap<First> seen;
  Terms terms(rule), called(names);
  auto check = [&](Value value, StringRef term, const Twine &called) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    if (!type)
      return;
    std::string name = called.str();
    SmallVector<StringRef> dims = dimsOf(term);
    if (type.getRank() != static_cast<int64_t>(dims.size())) {
      auto diagnostic = fault() << name << " has " << plural(type.getRank(), "dimension") << ", expected ";
      if (dims.empty())
        diagnostic << "none";
      else
        diagnostic << dims.size() << " (" << llvm::join(dims, " ") << ")";
      return;
    }
    for (auto [index, dim] : llvm::enumerate(dims)) {
      int64_t size = type.getDimSize(index);
      std::string where = ("dimension " + Twine(index) + " of " + name).str();
      auto [first, isNew] = seen.try_emplace(dim, First{size, where});
      if (!isNew && first->second.size != size)
        fault() << where << " is " << sizeText(size) << ", expected " << sizeText(first->second.size) << " ("
                << first->second.where << ")";
    }
  };
  for (auto [index, value] : llvm::enumerate(op->getOperands()))
    if (index < terms.operands.size())
      check(value, terms.operands[index],
            index < called.operands.size() ? Twine(called.operands[index]) : "operand " + Twine(index));
  for (auto [index, value] : llvm::enumerate(op->getResults()))
    if (index < terms.results.size())
      check(value, terms.results[index],
            index < called.results.size() ? Twine(called.results[index]) : "result " + Twine(index));
  return *this;
}

ShapeCheck &ShapeCheck::floating(ArrayRef<Named> values) {
  Type expected = getElementTypeOrSelf(values.front().value.getType());
  if (!isa<FloatType>(expected)) {
    fault() << "element type of " << values.front().name << " is " << expected << ", expected a float type";
    return *this;
  }
  for (const Named &each : values.drop_front())
    if (each.value && getElementTypeOrSelf(each.value.getType()) != expected)
      fault() << "element type of " << each.name << " is " << getElementTypeOrSelf(each.value.getType())
              << ", expected " << expected << " (that of " << values.front().name << ")";
  return *this;
}

ShapeCheck &ShapeCheck::widened(Named each, Named like) {
  Type found = getElementTypeOrSelf(each.value.getType()), same = getElementTypeOrSelf(like.value.getType());
  if (!isa<FloatType>(same) || found == same || found == scalarType(same))
    return *this; // where `like` is no float that has been told
  InFlightDiagnostic diagnostic = fault() << "element type of " << each.name << " is " << found << ", expected " << same
                                          << " (that of " << like.name << ")";
  if (same != scalarType(same))
    diagnostic << " or " << scalarType(same);
  return *this;
}

ShapeCheck &ShapeCheck::element(Named each, Type expected, StringRef reason) {
  Type found = getElementTypeOrSelf(each.value.getType());
  if (found != expected)
    fault() << "element type of " << each.name << " is " << found << ", expected " << expected << inBrackets(reason);
  return *this;
}

bool ShapeCheck::rank(Named each, int64_t least, int64_t most, StringRef reason) {
  int64_t found = tensorType(each.value).getRank();
  if (found >= least && found <= most)
    return true;
  auto diagnostic = fault() << each.name << " has " << plural(found, "dimension") << ", expected ";
  if (most == INT64_MAX)
    diagnostic << "at least " << least;
  else if (least == most)
    diagnostic << least;
  else if (least == 0)
    diagnostic << "at most " << most;
  else
    diagnostic << least << " to " << most;
  diagnostic << inBrackets(reason);
  return false;
}

std::string leadingNames(int64_t count) {
  static constexpr StringRef known[] = {"b", "s", "n", "m"};
  std::string names;
  for (int64_t i = 0; i < count; ++i)
    names = joinNames(names, i < 4 ? known[i].str() : ("r" + Twine(i)).str());
  return names;
}

std::string joinNames(StringRef first, StringRef second) {
  if (first.empty() || second.empty())
    return (first + second).str();
  return (first + " " + second).str();
}

RankedTensorType tensorType(Value value) { return cast<RankedTensorType>(value.getType()); }

int64_t offsetAmong(ArrayRef<const HostTensor *> operands, size_t index) {
  return index < operands.size() ? static_cast<int64_t>(operands[index]->data.at(0)) : 0;
}
} // namespace hocket::nn
