// How a manual region may be split along other axes: by the factors of its ops, joined to classes of dimensions that
// run through the region. Its own axes split nothing else: dimensions that vary over them stay as the region says.
#include "dialect/Dist/LocalTypes.h"
#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/SmallSet.h"
using namespace mlir;
using namespace hocket::dist;
namespace nn = hocket::nn;

namespace {
/// Dimensions of all values of the region, joined where one index runs over both.
class DimensionsOf {
public:
  explicit DimensionsOf(LocalOp op) : op(op), typing(op, op.getBody()) { typing.run(bodyArguments(op), false); }
  nn::FactorRule rule();

private:
  using Pending = llvm::SmallSet<int, 4>;
  int idOf(Value value, int64_t dim) {
    auto [at, fresh] = ids.try_emplace({value, dim}, static_cast<int>(ids.size()));
    if (fresh)
      classes.insert(at->second);
    return at->second;
  }
  int leader(Value value, int64_t dim) { return classes.getLeaderValue(idOf(value, dim)); }
  void joinAll();
  void joinOp(Operation *each);
  void markWhole();
  void follow(Operation *each);
  SmallVector<SmallVector<int>> terms(ValueRange outer, ValueRange inner, nn::FactorRule &rule);

  LocalOp op;
  LocalTyping typing;
  llvm::DenseMap<std::pair<Value, int64_t>, int> ids;
  llvm::EquivalenceClasses<int> classes;
  llvm::SmallSet<int, 8> whole;           ///< leaders
  llvm::DenseMap<Value, Pending> pending; ///< classes over which a value is a sum not yet taken, were they split
  llvm::DenseMap<int, int> factorOf;      ///< by leader
};
} // namespace

static int64_t rankOf(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type ? type.getRank() : 0;
}

void DimensionsOf::joinOp(Operation *each) {
  if (auto convert = dyn_cast<ConvertOp>(each)) {
    for (int64_t dim = 0; dim < rankOf(convert.getX()); ++dim)
      classes.unionSets(idOf(convert.getX(), dim), idOf(convert.getY(), dim));
    return;
  }
  auto factors = dyn_cast<nn::FactorOpInterface>(each);
  if (!factors)
    return;
  nn::FactorRule rule = factors.getFactorRule();
  SmallVector<int> first(rule.factors.size(), -1);
  auto join = [&](Value value, ArrayRef<int> term) {
    for (auto [dim, factor] : llvm::enumerate(term)) {
      int id = idOf(value, static_cast<int64_t>(dim));
      if (first[factor] < 0)
        first[factor] = id;
      else
        classes.unionSets(first[factor], id);
    }
  };
  for (auto [value, term] : llvm::zip(each->getOperands(), rule.operands))
    join(value, term);
  for (auto [value, term] : llvm::zip(each->getResults(), rule.results))
    join(value, term);
}

void DimensionsOf::joinAll() {
  for (Value argument : op.getBody().getArguments())
    for (int64_t dim = 0; dim < rankOf(argument); ++dim)
      idOf(argument, dim);
  for (Operation &each : op.getBody().front())
    joinOp(&each);
}

/// Dimensions that vary over an axis of the region, and factors that their op needs whole or an offset of.
void DimensionsOf::markWhole() {
  auto varies = [&](Value value) {
    if (const LocalTypes *types = typing.of(value))
      for (const LocalType &type : *types)
        if (type.kind == LocalKind::Varying)
          whole.insert(leader(value, type.dim));
  };
  for (Value argument : op.getBody().getArguments())
    varies(argument);
  for (Operation &each : op.getBody().front()) {
    for (Value result : each.getResults())
      varies(result);
    auto factors = dyn_cast<nn::FactorOpInterface>(&each);
    if (!factors)
      continue;
    nn::FactorRule rule = factors.getFactorRule();
    auto mark = [&](Value value, ArrayRef<int> term) {
      for (auto [dim, factor] : llvm::enumerate(term))
        if (rule.factors[factor].whole || rule.factors[factor].needsOffset)
          whole.insert(leader(value, static_cast<int64_t>(dim)));
    };
    for (auto [value, term] : llvm::zip(each.getOperands(), rule.operands))
      mark(value, term);
    for (auto [value, term] : llvm::zip(each.getResults(), rule.results))
      mark(value, term);
  }
}

/// What an op sums over stays open in its results; it may be added, converted and returned, else it is not split.
void DimensionsOf::follow(Operation *each) {
  if (auto convert = dyn_cast<ConvertOp>(each)) {
    pending[convert.getY()] = Pending(pending[convert.getX()]);
    return;
  }
  auto factors = dyn_cast<nn::FactorOpInterface>(each);
  if (!factors)
    return;
  nn::FactorRule rule = factors.getFactorRule();
  auto sameJoint = [&](int id) {
    for (auto [operand, linearity] : llvm::zip(each->getOperands(), rule.linearity))
      if ((linearity == nn::Linearity::Joint) != bool(pending[operand].count(id)))
        return false;
    return true;
  };
  Pending through;
  for (Value operand : each->getOperands())
    for (int id : Pending(pending[operand]))
      if (sameJoint(id))
        through.insert(id);
      else
        whole.insert(id);
  for (auto [result, term] : llvm::zip(each->getResults(), rule.results)) {
    Pending open = through;
    for (auto [operand, operandTerm] : llvm::zip(each->getOperands(), rule.operands))
      for (auto [dim, factor] : llvm::enumerate(operandTerm))
        if (!llvm::is_contained(term, factor)) {
          int id = leader(operand, static_cast<int64_t>(dim));
          if (rule.reduction == nn::ReductionKind::Sum)
            open.insert(id);
          else
            whole.insert(id);
        }
    pending[result] = open;
  }
}

SmallVector<SmallVector<int>> DimensionsOf::terms(ValueRange outer, ValueRange inner, nn::FactorRule &rule) {
  SmallVector<SmallVector<int>> all;
  for (auto [global, local] : llvm::zip(outer, inner)) {
    SmallVector<int> &term = all.emplace_back();
    for (int64_t dim = 0; dim < rankOf(local); ++dim) {
      int id = leader(local, dim);
      auto [at, fresh] = factorOf.try_emplace(id, static_cast<int>(rule.factors.size()));
      int factor = at->second;
      if (!fresh && llvm::is_contained(term, factor)) { // twice in one value: a block of it would be two numbers
        rule.factors[factor].whole = true;
        factor = static_cast<int>(rule.factors.size());
        fresh = true;
      }
      if (fresh)
        rule.factors.push_back({"d" + std::to_string(rule.factors.size()),
                                cast<RankedTensorType>(global.getType()).getDimSize(static_cast<unsigned>(dim)),
                                factor != at->second || whole.contains(id), false});
      term.push_back(factor);
    }
  }
  return all;
}

nn::FactorRule DimensionsOf::rule() {
  joinAll();
  markWhole();
  for (Operation &each : op.getBody().front().without_terminator())
    follow(&each);
  ValueRange inner = op.getBody().front().getTerminator()->getOperands();
  // Over a class that a result lacks it must be a sum: else ranks would have pieces of nothing.
  nn::FactorRule rule;
  rule.operands = terms(op.getXs(), op.getBody().getArguments(), rule);
  size_t known = rule.factors.size();
  rule.results = terms(op.getYs(), inner, rule);
  rule.linearity.assign(rule.operands.size(), nn::Linearity::None);
  for (size_t i = known; i < rule.factors.size(); ++i)
    rule.factors[i].whole = true; // of results only
  for (auto [id, factor] : factorOf)
    for (auto [term, value] : llvm::zip(rule.results, inner))
      if (!llvm::is_contained(term, factor) && !pending[value].count(id))
        rule.factors[factor].whole = true;
  return rule;
}

nn::FactorRule LocalOp::getFactorRule() { return DimensionsOf(*this).rule(); }
