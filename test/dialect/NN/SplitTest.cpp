// Factor rules hold: an op run on shards of a split factor, its results joined as the rule says, is the op run whole;
// and an op is linear in an operand as its rule says.
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Operation.h"
#include "test/dialect/NN/OpCase.h"
#include <cmath>
#include <set>
using namespace mlir;
using namespace hocket::nn;
using namespace hocket::nn::test;

namespace {
constexpr double tolerance = 1e-12;

/// The part [begin, begin + size) of one dimension, padded to `padded` with `fill`.
HostTensor slice(const HostTensor &x, int64_t dim, int64_t begin, int64_t size, int64_t padded, double fill = NAN) {
  SmallVector<int64_t> shape(x.shape);
  shape[dim] = padded;
  HostTensor part(shape, fill);
  int64_t outer = x.extent(0, dim), inner = x.extent(dim + 1, x.rank()), whole = x.shape[dim];
  for (int64_t i = 0; i < outer; ++i)
    for (int64_t k = 0; k < size; ++k)
      for (int64_t j = 0; j < inner; ++j)
        part[(i * padded + k) * inner + j] = x[(i * whole + begin + k) * inner + j];
  return part;
}

/// Puts the first `size` of `part` at `begin` of `whole`.
void place(HostTensor &whole, const HostTensor &part, int64_t dim, int64_t begin, int64_t size) {
  int64_t outer = whole.extent(0, dim), inner = whole.extent(dim + 1, whole.rank());
  for (int64_t i = 0; i < outer; ++i)
    for (int64_t k = 0; k < size; ++k)
      for (int64_t j = 0; j < inner; ++j)
        whole[(i * whole.shape[dim] + begin + k) * inner + j] = part[(i * part.shape[dim] + k) * inner + j];
}

int dimOf(ArrayRef<int> term, int factor) {
  auto found = llvm::find(term, factor);
  return found == term.end() ? -1 : static_cast<int>(found - term.begin());
}

struct Shard {
  int64_t begin, size, padded;
};
/// Pieces of ceil(n / d), the last ones short or empty, as plans cut; empty ones are left out.
SmallVector<Shard> shardsOf(int64_t n, int64_t parts, bool padded) {
  SmallVector<Shard> shards;
  int64_t chunk = (n + parts - 1) / parts;
  for (int64_t begin = 0; begin < n; begin += chunk)
    shards.push_back({begin, std::min(chunk, n - begin), padded ? chunk : std::min(chunk, n - begin)});
  return shards;
}

/// The op, its operands (found by running what is before it), its rule and its results.
struct Whole {
  Program program;
  std::vector<HostTensor> operands, results;
  FactorRule rule;

  explicit Whole(const OpCase &each) : program(each) {
    Values values = program.run(program.randomArguments());
    for (Value operand : program.op().getOperands())
      operands.push_back(values.lookup(operand));
    for (Value result : program.op().getResults())
      results.push_back(values.lookup(result));
    rule = cast<FactorOpInterface>(program.op()).getFactorRule();
  }
  std::vector<HostTensor> evaluateWith(ArrayRef<HostTensor> given) {
    return evaluate(program.op(), given, resultShapes(program.op()));
  }
  bool isReduced(int factor) const {
    return llvm::any_of(rule.results, [&](ArrayRef<int> term) { return dimOf(term, factor) < 0; });
  }

  std::vector<HostTensor> runShard(int factor, Shard shard, double fill = NAN) {
    std::vector<HostTensor> parts;
    for (auto [operand, term] : llvm::zip(operands, rule.operands)) {
      int dim = dimOf(term, factor);
      parts.push_back(dim < 0 ? operand : slice(operand, dim, shard.begin, shard.size, shard.padded, fill));
    }
    Operation *op = &program.op();
    OwningOpRef<ModuleOp> holder; // of a copy that takes an offset
    if (rule.factors[factor].needsOffset) {
      OpBuilder builder(&context());
      holder = ModuleOp::create(op->getLoc());
      builder.setInsertionPointToStart(holder->getBody());
      op = builder.insert(op->clone());
      Value offset = arith::ConstantIntOp::create(builder, op->getLoc(), shard.begin, 64);
      cast<FactorOpInterface>(op).setOffsetOperand(factor, offset);
      parts.emplace_back(ArrayRef<int64_t>(), static_cast<double>(shard.begin));
    }
    SmallVector<SmallVector<int64_t>> shapes = resultShapes(program.op());
    for (auto [shape, term] : llvm::zip(shapes, rule.results))
      if (int dim = dimOf(term, factor); dim >= 0)
        shape[dim] = shard.padded;
    return evaluate(*op, parts, shapes);
  }

  void join(HostTensor &joined, const HostTensor &part, ArrayRef<int> term, int factor, Shard shard) const {
    if (int dim = dimOf(term, factor); dim >= 0)
      return place(joined, part, dim, shard.begin, shard.size);
    for (int64_t i = 0; i < joined.size(); ++i)
      if (shard.begin == 0)
        joined[i] = part[i];
      else if (rule.reduction == ReductionKind::Max)
        joined[i] = std::max(joined[i], part[i]);
      else
        joined[i] += part[i];
  }

  void checkSplit(int factor, int64_t parts, bool padded, double fill = NAN) {
    std::vector<HostTensor> joined;
    for (const HostTensor &result : results)
      joined.emplace_back(result.shape, NAN);
    for (Shard shard : shardsOf(rule.factors[factor].size, parts, padded)) {
      std::vector<HostTensor> local = runShard(factor, shard, fill);
      for (size_t i = 0; i < results.size(); ++i)
        join(joined[i], local[i], rule.results[i], factor, shard);
    }
    for (size_t i = 0; i < results.size(); ++i)
      EXPECT_LE(relativeDifference(joined[i], results[i]), tolerance)
          << "factor " << rule.factors[factor].name << " over " << parts << (padded ? " padded" : "") << ", result "
          << i;
  }

  /// The results with the operands of `split` as a sum of two parts, added, equal the results of the whole.
  void checkLinear(ArrayRef<unsigned> split) {
    std::mt19937_64 random(3);
    std::vector<HostTensor> first = operands, second = operands;
    for (unsigned i : split) {
      first[i] = randomNormal(operands[i].shape, random);
      for (int64_t j = 0; j < first[i].size(); ++j)
        second[i][j] = operands[i][j] - first[i][j];
    }
    std::vector<HostTensor> a = evaluateWith(first), b = evaluateWith(second);
    for (size_t i = 0; i < results.size(); ++i) {
      for (int64_t j = 0; j < a[i].size(); ++j)
        a[i][j] += b[i][j];
      EXPECT_LE(relativeDifference(a[i], results[i]), tolerance) << "result " << i;
    }
  }
};
} // namespace

class SplitTest : public testing::TestWithParam<OpCase> {};

TEST_P(SplitTest, RuleIsSoundAndReadsBack) {
  Whole whole(GetParam());
  EXPECT_EQ(checkFactorRule(&whole.program.op(), whole.rule), "");
  FactorRule again = FactorRule::parse(&whole.program.op(), whole.rule.str());
  EXPECT_EQ(again.str(), whole.rule.str());
}

TEST_P(SplitTest, ShardsJoinToTheWhole) {
  Whole whole(GetParam());
  for (int factor = 0; factor < static_cast<int>(whole.rule.factors.size()); ++factor)
    for (int64_t parts : {2, 3})
      if (!whole.rule.factors[factor].whole)
        whole.checkSplit(factor, parts, /*padded=*/false);
}

TEST_P(SplitTest, PaddingReachesNoRealElement) {
  Whole whole(GetParam());
  for (int factor = 0; factor < static_cast<int>(whole.rule.factors.size()); ++factor)
    for (int64_t parts : {2, 3})
      if (!whole.rule.factors[factor].whole && !whole.isReduced(factor))
        whole.checkSplit(factor, parts, /*padded=*/true);
}

// Where an op reduces over a factor its padding is masked with what the rule says. Numbers of tokens and labels are
// never padded: only batch and sequence have them, which are split evenly.
TEST_P(SplitTest, NeutralPaddingReachesNoResult) {
  Whole whole(GetParam());
  for (int factor = 0; factor < static_cast<int>(whole.rule.factors.size()); ++factor) {
    bool integers = false;
    for (auto [operand, term] : llvm::zip(whole.program.op().getOperands(), whole.rule.operands))
      integers |= !isFloat(operand) && dimOf(term, factor) >= 0;
    for (int64_t parts : {2, 3})
      if (!whole.rule.factors[factor].whole && whole.isReduced(factor) && !integers)
        whole.checkSplit(factor, parts, /*padded=*/true, whole.rule.padding);
  }
}

TEST_P(SplitTest, IsLinearAsTheRuleSays) {
  Whole whole(GetParam());
  SmallVector<unsigned> joint;
  for (auto [i, linearity] : llvm::enumerate(whole.rule.linearity)) {
    if (linearity == Linearity::Multi)
      whole.checkLinear(i);
    else if (linearity == Linearity::Joint)
      joint.push_back(i);
  }
  if (!joint.empty())
    whole.checkLinear(joint);
}

INSTANTIATE_TEST_SUITE_P(Ops, SplitTest, testing::ValuesIn(allCases()), caseName);

TEST(Cases, CoverEveryOpOfTheMathematics) {
  std::set<std::string> covered;
  for (const OpCase &each : allCases())
    if (Program program(each); program.sound())
      covered.insert(program.op().getName().getStringRef().str());
  for (const char *dialect : {"nn", "dist"})
    for (RegisteredOperationName name : context().getRegisteredOperationsByDialect(dialect))
      if (name.hasInterface<FactorOpInterface>())
        EXPECT_TRUE(covered.count(name.getStringRef().str())) << name.getStringRef().str();
}
