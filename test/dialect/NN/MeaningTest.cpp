// What ops compute, against closed forms and sums written out by other means than the ops' own loops.
#include "dialect/NN/Random.h"
#include "test/dialect/NN/OpCase.h"
#include <cmath>
using namespace mlir;
using namespace hocket::nn;
using namespace hocket::nn::test;

namespace {
const OpCase &caseNamed(StringRef name) {
  return *llvm::find_if(allCases(), [&](const OpCase &each) { return each.name == name; });
}

/// The sum over all factors, index by index, that a product's rule stands for.
HostTensor sumOverFactors(const FactorRule &rule, const HostTensor &a, const HostTensor &b, ArrayRef<int64_t> shape) {
  HostTensor y(shape);
  SmallVector<int64_t> point(rule.factors.size());
  int64_t points = 1;
  for (const Factor &factor : rule.factors)
    points *= factor.size;
  auto at = [&](ArrayRef<int> term) {
    int64_t index = 0;
    for (int factor : term)
      index = index * rule.factors[factor].size + point[factor];
    return index;
  };
  for (int64_t n = 0; n < points; ++n) {
    int64_t rest = n;
    for (auto [coordinate, factor] : llvm::zip(point, rule.factors)) {
      coordinate = rest % factor.size;
      rest /= factor.size;
    }
    y[at(rule.results[0])] += a[at(rule.operands[0])] * b[at(rule.operands[1])];
  }
  return y;
}
} // namespace

TEST(Products, AreSumsOverAllFactors) {
  unsigned checked = 0;
  for (const OpCase &each : allCases()) {
    Program program(each);
    if (!isa<LinearOp, MatmulOp>(program.op()))
      continue;
    std::vector<HostTensor> arguments = program.randomArguments();
    HostTensor y = program.run(arguments).lookup(program.op().getResult(0));
    FactorRule rule = cast<FactorOpInterface>(program.op()).getFactorRule();
    EXPECT_LE(relativeDifference(y, sumOverFactors(rule, arguments[0], arguments[1], y.shape)), 1e-14) << each.name;
    int64_t points = 2;
    for (const Factor &factor : rule.factors)
      points *= factor.size;
    EXPECT_EQ(cast<ReferenceOpInterface>(program.op()).getFlops(), points);
    ++checked;
  }
  EXPECT_GE(checked, 9u);
}

TEST(Norms, RowsHaveTheMomentsThatTheirNamesPromise) {
  std::mt19937_64 random(1);
  HostTensor x = randomNormal({2, 3, 5}, random), one({5}, 1), zero({5});
  Program layerNorm(caseNamed("layer_norm")), rmsNorm(caseNamed("rms_norm"));
  HostTensor y = layerNorm.run({x, one, zero}).lookup(layerNorm.op().getResult(0));
  HostTensor z = rmsNorm.run({x, one}).lookup(rmsNorm.op().getResult(0));
  for (int64_t row = 0; row < 6; ++row) {
    double mean = 0, square = 0, rms = 0, power = 0, centre = 0;
    for (int64_t h = 0; h < 5; ++h)
      centre += x[row * 5 + h] / 5;
    for (int64_t h = 0; h < 5; ++h) {
      mean += y[row * 5 + h] / 5;
      square += y[row * 5 + h] * y[row * 5 + h] / 5;
      rms += z[row * 5 + h] * z[row * 5 + h] / 5;
      power += x[row * 5 + h] * x[row * 5 + h] / 5;
    }
    double variance = power - centre * centre;
    EXPECT_NEAR(mean, 0, 1e-14);
    EXPECT_NEAR(square, variance / (variance + 1e-3), 1e-12); // eps of the case
    EXPECT_NEAR(rms, power / (power + 1e-3), 1e-12);
  }
}

TEST(Rope, ProductsDependOnTheDistanceOfPositionsOnly) {
  Program program(caseNamed("rope_partial"));
  std::vector<HostTensor> arguments = program.randomArguments();
  auto turn = [&](double shift) {
    HostTensor positions({2, 5});
    for (int64_t i = 0; i < 10; ++i)
      positions[i] = static_cast<double>(i % 5) + shift;
    return program.run({arguments[0], positions}).lookup(program.op().getResult(0));
  };
  auto product = [](const HostTensor &y, int64_t i, int64_t j) { // of tokens i and j, first head
    double sum = 0;
    for (int64_t d = 0; d < 6; ++d)
      sum += y[i * 18 + d] * y[j * 18 + d];
    return sum;
  };
  HostTensor near = turn(0), far = turn(100);
  EXPECT_GT(relativeDifference(near, far), 1e-2);
  EXPECT_NEAR(product(near, 1, 3), product(far, 1, 3), 1e-12);
}

TEST(Rope, PairsAndAnglesAreThoseOfThePaper) {
  HostTensor x({1, 1, 1, 4}), position({1, 1}, 2);
  x[0] = 1, x[2] = 1; // the first elements of the interleaved pairs; one of each half otherwise
  auto run = [&](std::string options) {
    Program program({"rope", "%x: tensor<1x1x1x4xf32>, %p: tensor<1x1xi32>",
                     "%y = nn.rope %x at %p theta(100.0) " + options +
                         " : tensor<1x1x1x4xf32>, tensor<1x1xi32> -> tensor<1x1x1x4xf32>"});
    return program.run({x, position}).lookup(program.op().getResult(0));
  };
  HostTensor y = run("interleaved"); // angles 2 and 2 * 100^(-2/4) = 0.2
  EXPECT_NEAR(y[0], std::cos(2), 1e-15);
  EXPECT_NEAR(y[1], std::sin(2), 1e-15);
  EXPECT_NEAR(y[2], std::cos(0.2), 1e-15);
  EXPECT_NEAR(y[3], std::sin(0.2), 1e-15);
  HostTensor halves = run("position_scale(0.5)"); // pair (0, 2) turns by 1; pair (1, 3) is zero
  EXPECT_NEAR(halves[0], std::cos(1) - std::sin(1), 1e-15);
  EXPECT_NEAR(halves[2], std::cos(1) + std::sin(1), 1e-15);
  EXPECT_EQ(halves[1], 0);
}

TEST(Attention, IsTheMeanOfVisibleValuesWhenScoresAreEqual) {
  Program program(caseNamed("attention_grouped_everything")); // causal, window 3
  std::vector<HostTensor> arguments = program.randomArguments();
  std::fill(arguments[0].data.begin(), arguments[0].data.end(), 0.0);
  Values values = program.run(arguments);
  HostTensor y = values.lookup(program.op().getResult(0)), lse = values.lookup(program.op().getResult(1));
  const HostTensor &v = arguments[2]; // [2, 4, 2, 3]; y [2, 4, 2, 3, 3]
  for (int64_t s = 0; s < 4; ++s) {
    int64_t first = std::max<int64_t>(0, s - 2), count = s - first + 1;
    double mean = 0;
    for (int64_t t = first; t <= s; ++t)
      mean += v[(t * 2 + 1) * 3 + 2] / static_cast<double>(count);
    EXPECT_NEAR(y[((s * 2 + 1) * 3 + 0) * 3 + 2], mean, 1e-15);
    EXPECT_NEAR(lse[(s * 2 + 1) * 3], std::log(static_cast<double>(count)), 1e-15);
  }
}

/// One output element as the formula says it: softmax over visible keys of cap(scale q · k), times v.
static double attend(AttentionOp op, ArrayRef<HostTensor> x, int64_t batch, int64_t s, int64_t head, int64_t group,
                     int64_t element) {
  int64_t length = x[0].shape[1], keys = x[1].shape[1], kv = x[1].shape[2], d = x[1].shape[3], e = x[2].shape[3];
  int64_t groups = x[0].rank() == 5 ? x[0].shape[3] : 1;
  double above = 0, below = 0;
  for (int64_t t = 0; t < keys; ++t) {
    double distance = x[3][batch * length + s] - x[3][batch * keys + t], score = 0;
    if ((op.getMask() == MaskKind::Causal && distance < 0) ||
        (op.getWindow() && distance >= static_cast<double>(*op.getWindow())))
      continue;
    for (int64_t i = 0; i < d; ++i)
      score += x[0][(((batch * length + s) * kv + head) * groups + group) * d + i] *
               x[1][((batch * keys + t) * kv + head) * d + i];
    score *= op.getScale().convertToDouble();
    if (op.getSoftcap())
      score = op.getSoftcap()->convertToDouble() * std::tanh(score / op.getSoftcap()->convertToDouble());
    below += std::exp(score);
    above += std::exp(score) * x[2][((batch * keys + t) * kv + head) * e + element];
  }
  return above / below;
}

TEST(Attention, IsTheFormulaForEveryElement) {
  unsigned checked = 0;
  for (const OpCase &each : allCases()) {
    Program program(each);
    auto op = dyn_cast<AttentionOp>(program.op());
    if (!op)
      continue;
    std::vector<HostTensor> arguments = program.randomArguments();
    HostTensor y = program.run(arguments).lookup(op.getY()), expected(y.shape);
    int64_t kv = y.shape[2], groups = y.rank() == 5 ? y.shape[3] : 1, e = y.shape.back();
    for (int64_t i = 0; i < y.size(); ++i) {
      int64_t row = i / (kv * groups * e);
      expected[i] =
          attend(op, arguments, row / y.shape[1], row % y.shape[1], i / (groups * e) % kv, i / e % groups, i % e);
    }
    EXPECT_LE(relativeDifference(y, expected), 1e-13) << each.name;
    ++checked;
  }
  EXPECT_GE(checked, 6u);
}

TEST(Attention, ARowThatSeesNoKeyIsZero) {
  Program program({"none",
                   "%q: tensor<1x1x1x2xf32>, %k: tensor<1x1x1x2xf32>, %v: tensor<1x1x1x2xf32>, %a: "
                   "tensor<1x1xi32>, %b: tensor<1x1xi32>",
                   "%y, %l = nn.attention %q, %k, %v at %a, %b causal scale(1.0) : tensor<1x1x1x2xf32>, "
                   "tensor<1x1x1x2xf32>, tensor<1x1x1x2xf32>, tensor<1x1xi32>, tensor<1x1xi32> -> tensor<1x1x1x2xf32>, "
                   "tensor<1x1x1xf32>"});
  HostTensor row({1, 1, 1, 2}, 1), early({1, 1}, 0), late({1, 1}, 5);
  Values values = program.run({row, row, row, early, late});
  EXPECT_EQ(values.lookup(program.op().getResult(0))[0], 0);
  EXPECT_EQ(values.lookup(program.op().getResult(1))[0], -INFINITY);
}

TEST(AttentionMerge, OfTwoSetsOfKeysIsAttentionOverBoth) {
  constexpr const char *half = "tensor<1x4x2x3xf32>, tensor<1x2x2x3xf32>, tensor<1x2x2x3xf32>, tensor<1x4xi32>, "
                               "tensor<1x2xi32> -> tensor<1x4x2x3xf32>, tensor<1x4x2xf32>";
  std::string q = "%q: tensor<1x4x2x3xf32>, %p: tensor<1x4xi32>, ";
  Program whole({"whole", q + "%k: tensor<1x4x2x3xf32>, %v: tensor<1x4x2x3xf32>",
                 "%y, %l = nn.attention %q, %k, %v at %p, %p causal scale(0.7) window(3) : tensor<1x4x2x3xf32>, "
                 "tensor<1x4x2x3xf32>, tensor<1x4x2x3xf32>, tensor<1x4xi32>, tensor<1x4xi32> -> tensor<1x4x2x3xf32>, "
                 "tensor<1x4x2xf32>"});
  Program parts({"parts",
                 q + "%k: tensor<1x2x2x3xf32>, %v: tensor<1x2x2x3xf32>, %a: tensor<1x2xi32>, "
                     "%m: tensor<1x2x2x3xf32>, %w: tensor<1x2x2x3xf32>, %b: tensor<1x2xi32>",
                 std::string("%y0, %l0 = nn.attention %q, %k, %v at %p, %a causal scale(0.7) window(3) : ") + half +
                     "\n%y1, %l1 = nn.attention %q, %m, %w at %p, %b causal scale(0.7) window(3) : " + half +
                     "\n%y, %l = nn.attention_merge %y0, %l0, %y1, %l1 : tensor<1x4x2x3xf32>, tensor<1x4x2xf32>, "
                     "tensor<1x4x2x3xf32>, tensor<1x4x2xf32> -> tensor<1x4x2x3xf32>, tensor<1x4x2xf32>"});
  ASSERT_TRUE(whole.sound() && parts.sound());
  std::vector<HostTensor> all = whole.randomArguments(), some = parts.randomArguments();
  some[0] = all[0], some[1] = all[1];
  for (int64_t i = 0; i < 4; ++i)
    all[1][i] = some[1][i] = static_cast<double>(i);
  for (int64_t half = 0; half < 2; ++half) { // tokens 0 and 1, then 2 and 3: the first sees none of the second half
    std::copy_n(all[2].data.begin() + half * 12, 12, some[2 + half * 3].data.begin());
    std::copy_n(all[3].data.begin() + half * 12, 12, some[3 + half * 3].data.begin());
    some[4 + half * 3][0] = static_cast<double>(half * 2), some[4 + half * 3][1] = static_cast<double>(half * 2 + 1);
  }
  Values expected = whole.run(all), found = parts.run(some);
  for (unsigned i = 0; i < 2; ++i)
    EXPECT_LE(relativeDifference(found.lookup(parts.op().getResult(i)), expected.lookup(whole.op().getResult(i))),
              1e-14);
}

TEST(AttentionMerge, OfNothingIsNothing) {
  Program program({"none", "%a: tensor<1x1x1x2xf32>, %l: tensor<1x1x1xf32>",
                   "%y, %m = nn.attention_merge %a, %l, %a, %l : tensor<1x1x1x2xf32>, tensor<1x1x1xf32>, "
                   "tensor<1x1x1x2xf32>, tensor<1x1x1xf32> -> tensor<1x1x1x2xf32>, tensor<1x1x1xf32>"});
  Values values = program.run({HostTensor({1, 1, 1, 2}, 0), HostTensor({1, 1, 1}, -INFINITY)});
  EXPECT_EQ(values.lookup(program.op().getResult(0))[0], 0);
  EXPECT_EQ(values.lookup(program.op().getResult(1))[0], -INFINITY);
}

TEST(Positions, ZigzagPairsEarlyChunksWithLateOnes) {
  Program program({"zigzag", "", "%y = nn.positions zigzag 2 of 8 : tensor<1x8xi32>"});
  HostTensor y = program.run({}).lookup(program.op().getResult(0));
  double expected[] = {0, 1, 6, 7, 2, 3, 4, 5};
  for (int64_t i = 0; i < 8; ++i)
    EXPECT_EQ(y[i], expected[i]);
}

TEST(CrossEntropy, EqualsItsPieces) {
  Program whole(caseNamed("cross_entropy_lse"));
  std::vector<HostTensor> arguments = whole.randomArguments();
  Values values = whole.run(arguments);
  Program pieces({"pieces", caseNamed("cross_entropy").arguments, R"(
%m = nn.row_max %x : tensor<2x3x7xf32> -> tensor<2x3xf32>
%e = nn.row_sum_exp %x, %m : tensor<2x3x7xf32>, tensor<2x3xf32> -> tensor<2x3xf32>
%p = nn.pick %x, %i : tensor<2x3x7xf32>, tensor<2x3xi32> -> tensor<2x3xf32>
%lse, %each = nn.elementwise %m, %e, %p, %i : tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xi32> -> tensor<2x3xf32>, tensor<2x3xf32> {
^bb0(%a: f32, %b: f32, %c: f32, %label: i32):
  %0 = math.log %b : f32
  %1 = arith.addf %a, %0 : f32
  %2 = arith.subf %1, %c : f32
  %3 = arith.sitofp %label : i32 to f32
  %zero = arith.constant 0.0 : f32
  %counted = arith.cmpf oge, %3, %zero : f32
  %4 = arith.select %counted, %2, %zero : f32
  nn.return %1, %4 : f32, f32
}
%s = nn.sum %each : tensor<2x3xf32> -> tensor<f32>
%c = nn.count_tokens %i : tensor<2x3xi32> -> tensor<i64>)"});
  ASSERT_TRUE(pieces.sound());
  Values parts = pieces.run(arguments);
  auto resultOf = [&](StringRef name, unsigned i) {
    for (Operation &op : pieces.body())
      if (op.getName().getStringRef() == name)
        return parts.lookup(op.getResult(i));
    return HostTensor();
  };
  EXPECT_LE(relativeDifference(resultOf("nn.sum", 0), values.lookup(whole.op().getResult(0))), 1e-14);
  EXPECT_EQ(resultOf("nn.count_tokens", 0)[0], values.lookup(whole.op().getResult(1))[0]);
  EXPECT_LE(relativeDifference(resultOf("nn.elementwise", 0), values.lookup(whole.op().getResult(2))), 1e-14);
  EXPECT_GT(llvm::count(arguments[1].data, -1.0), 0) << "the case has no masked label";
}

TEST(Gelu, HasKnownValues) {
  Program program({"gelu", "%x: tensor<3xf32>", "%y = nn.gelu %x : tensor<3xf32> -> tensor<3xf32>"});
  HostTensor x({3});
  x[0] = 0, x[1] = 1, x[2] = -1;
  HostTensor y = program.run({x}).lookup(program.op().getResult(0));
  EXPECT_EQ(y[0], 0);
  EXPECT_NEAR(y[1], 0.841191990608, 1e-12); // 1/2 (1 + tanh(sqrt(2/pi) 1.044715))
  EXPECT_NEAR(y[1] + y[2], 1 - 2 * 0.158808009392, 1e-12);
}

TEST(CosineRate, WarmsUpFallsAndStays) {
  Program program(caseNamed("cosine_rate")); // peak 1e-3, warmup 4, decay 20, floor 1e-4
  auto rate = [&](double step) {
    return program.run({HostTensor(ArrayRef<int64_t>(), step)}).lookup(program.op().getResult(0))[0];
  };
  EXPECT_DOUBLE_EQ(rate(1), 0.25e-3);
  EXPECT_DOUBLE_EQ(rate(4), 1e-3);
  EXPECT_DOUBLE_EQ(rate(12), (1e-3 + 1e-4) / 2); // half way
  EXPECT_DOUBLE_EQ(rate(20), 1e-4);
  EXPECT_DOUBLE_EQ(rate(500), 1e-4);
}

// Whatever the gradient holds: selected, not multiplied by 0.
TEST(AdamW, UnlessLeavesAllAsItIs) {
  Program program(caseNamed("adamw_unless"));
  std::vector<HostTensor> arguments = program.randomArguments();
  for (double &g : arguments[1].data)
    g = NAN;
  for (double flag : {0.0, 1.0}) {
    arguments[7].data = {flag};
    Values values = program.run(arguments);
    for (auto [result, old] : {std::pair(0, 0), std::pair(1, 2), std::pair(2, 3)})
      for (int64_t i = 0; i < arguments[old].size(); ++i) {
        double found = values.lookup(program.op().getResult(result))[i];
        EXPECT_TRUE(flag == 0 ? std::isnan(found) : found == arguments[old][i]) << result;
      }
  }
}

TEST(AdamW, TwoStepsByHand) {
  std::string t = "tensor<f32>";
  Program program(
      {"adamw",
       "%p: " + t + ", %g: " + t + ", %m: " + t + ", %v: " + t + ", %r: " + t + ", %c: " + t + ", %s: tensor<i64>",
       "%a, %b, %d = nn.adamw %p, %g, %m, %v rate %r clip %c step %s (betas = [0.5, 0.75], eps = 1e-300, "
       "weight_decay = 0.1, lr_scale = 2.0) : " +
           t + ", " + t + ", " + t + ", " + t + ", " + t + ", " + t + ", tensor<i64> -> " + t + ", " + t + ", " + t});
  auto scalar = [](double x) { return HostTensor(ArrayRef<int64_t>(), x); };
  auto step = [&](double p, double g, double m, double v, double n) {
    Values values = program.run({scalar(p), scalar(g), scalar(m), scalar(v), scalar(0.01), scalar(0.5), scalar(n)});
    return std::array{values.lookup(program.op().getResult(0))[0], values.lookup(program.op().getResult(1))[0],
                      values.lookup(program.op().getResult(2))[0]};
  };
  auto [p1, m1, v1] = step(1, 8, 0, 0, 1); // g = 4: m = 2, v = 4, both corrected to 4 and 16: update 1
  EXPECT_DOUBLE_EQ(m1, 2);
  EXPECT_DOUBLE_EQ(v1, 4);
  EXPECT_DOUBLE_EQ(p1, 1 - 0.02 * (1 + 0.1));
  auto [p2, m2, v2] = step(p1, -4, m1, v1, 2); // g = -2: m = 0, v = 4
  EXPECT_DOUBLE_EQ(m2, 0);
  EXPECT_DOUBLE_EQ(v2, 4);
  EXPECT_DOUBLE_EQ(p2, p1 * (1 - 0.02 * 0.1));
}

// The known answers of Random123's own test (kat_vectors, philox2x32 10).
TEST(Dropout, DrawsThePublishedWords) {
  EXPECT_EQ(philox2x32(0, 0, 0), 0xff1dae59u);
  EXPECT_EQ(philox2x32(0xffffffffu, 0xffffffffu, 0xffffffffu), 0x2c3f628bu);
  EXPECT_EQ(philox2x32(0x243f6a88u, 0x85a308d3u, 0x13198a2eu), 0xdd7ce038u);
}

TEST(Dropout, KeepsWithTheProbabilityThatTheBoundSays) {
  EXPECT_EQ(keepBound(0), 0xffffffffu);
  EXPECT_EQ(keepBound(0.5), 0x7fffffffu);
  EXPECT_EQ(keepBound(0.1), 3865470565u);
}

namespace {
/// The mask (0 or 1) of 2 rows x 64 positions x 128 features at `rate`, for draws and a stream.
std::vector<bool> maskOf(double rate, std::pair<int64_t, int64_t> draws, StringRef stream) {
  std::string x = "tensor<2x64x128xf32>", types = x + ", tensor<2x64xi32>, tensor<2xi32> -> " + x;
  Program program({"mask", "%x: " + x + ", %p: tensor<2x64xi32>, %d: tensor<2xi32>",
                   "%y = nn.dropout %x at %p rate(" + realText(rate) + ") draws %d of [128] stream \"" + stream.str() +
                       "\" : " + types});
  HostTensor ones({2, 64, 128}, 1), positions({2, 64}), each({2});
  for (int64_t i = 0; i < positions.size(); ++i)
    positions[i] = static_cast<double>(i % 64);
  each[0] = static_cast<double>(draws.first), each[1] = static_cast<double>(draws.second);
  HostTensor y = program.run({ones, positions, each}).lookup(program.op().getResult(0));
  std::vector<bool> mask;
  for (double value : y.data) {
    EXPECT_TRUE(value == 0 || value == 1 || std::abs(value * (1 - rate) - 1) < 1e-15);
    mask.push_back(value != 0);
  }
  return mask;
}
/// Both parts agree at as many elements as independent ones do: within five standard deviations of n (k^2 + (1-k)^2).
void expectIndependent(ArrayRef<bool> a, ArrayRef<bool> b, double kept) {
  double n = static_cast<double>(a.size()), agree = 0, p = kept * kept + (1 - kept) * (1 - kept);
  for (size_t i = 0; i < a.size(); ++i)
    agree += a[i] == b[i];
  EXPECT_NEAR(agree, n * p, 5 * std::sqrt(n * p * (1 - p)));
}
SmallVector<bool> partOf(const std::vector<bool> &mask, size_t from, size_t count) {
  return SmallVector<bool>(mask.begin() + static_cast<long>(from), mask.begin() + static_cast<long>(from + count));
}
} // namespace

TEST(Dropout, RowsPositionsAndLayersHaveMasksOfTheirOwnAndTheRightRate) {
  constexpr size_t row = 64 * 128;
  for (double rate : {0.1, 0.25, 0.5, 0.9}) {
    double kept = 1 - rate, n = 2 * row;
    std::vector<bool> mask = maskOf(rate, {11, 12}, "h.0.mlp"), other = maskOf(rate, {11, 12}, "h.1.mlp");
    EXPECT_NEAR(std::count(mask.begin(), mask.end(), true), n * kept, 5 * std::sqrt(n * kept * rate));
    expectIndependent(partOf(mask, 0, row), partOf(mask, row, row), kept);                // rows
    expectIndependent(partOf(mask, 0, row - 128), partOf(mask, 128, row - 128), kept);    // positions
    expectIndependent(partOf(mask, 0, 2 * row - 1), partOf(mask, 1, 2 * row - 1), kept);  // features
    expectIndependent(partOf(mask, 0, 2 * row), partOf(other, 0, 2 * row), kept);         // layers
    EXPECT_EQ(partOf(mask, 0, row), partOf(maskOf(rate, {11, 99}, "h.0.mlp"), 0, row));   // of no other row
    EXPECT_EQ(partOf(mask, 0, row), partOf(maskOf(rate, {99, 11}, "h.0.mlp"), row, row)); // wherever it lies
  }
}

TEST(Dropout, ADrawOfZeroKeepsAll) {
  std::vector<bool> mask = maskOf(0.9, {0, 5}, "h.0");
  EXPECT_EQ(std::count(mask.begin(), mask.begin() + 64 * 128, true), 64 * 128);
  EXPECT_LT(std::count(mask.begin() + 64 * 128, mask.end(), true), 64 * 128 / 4);
}
