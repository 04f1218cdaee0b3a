// Scalar bodies: they mean what their ops do, and their derivatives are right and free of needless arithmetic.
#include "dialect/NN/ScalarBody.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "test/dialect/NN/OpCase.h"
#include <cmath>
using namespace mlir;
using namespace hocket::nn;
using namespace hocket::nn::test;

namespace {
/// The op's body as a block of its own, run on its operands.
std::vector<HostTensor> runBody(Operation &op, ArrayRef<HostTensor> operands) {
  Block block;
  for (Value operand : op.getOperands())
    block.addArgument(getElementTypeOrSelf(operand.getType()), op.getLoc());
  OpBuilder builder(op.getContext());
  builder.setInsertionPointToEnd(&block);
  SmallVector<Value> values = cast<ScalarOpInterface>(op).buildScalarBody(builder, block.getArguments());
  ReturnOp::create(builder, op.getLoc(), values);
  ScalarProgram program(block);
  std::vector<HostTensor> results;
  for (const SmallVector<int64_t> &shape : resultShapes(op))
    results.emplace_back(shape, NAN);
  SmallVector<const HostTensor *> pointers;
  for (const HostTensor &operand : operands)
    pointers.push_back(&operand);
  runElementwise(program, pointers, results);
  return results;
}

/// An elementwise op of one operand x and, from `text`, one value %y of type f32.
OpCase function(std::string name, std::string text) {
  return {name, "%t: tensor<40xf32>",
          "%r = nn.elementwise \"f\" %t : tensor<40xf32> -> tensor<40xf32> {\n^bb0(%x: f32):\n" + text +
              "\nnn.return %y : f32\n}"};
}

std::vector<OpCase> functions() {
  std::string square =
      "%q = arith.mulf %x, %x : f32\n%one = arith.constant 1.0 : f32\n%p = arith.addf %q, %one : f32\n";
  std::string half = "%h = arith.constant 0.5 : f32\n";
  return {function("subf", "%s = math.exp %x : f32\n%y = arith.subf %x, %s : f32"),
          function("divf", square + "%y = arith.divf %x, %p : f32"),
          function("divf_below", square + "%y = arith.divf %one, %p : f32"),
          function("negf", "%s = math.sin %x : f32\n%y = arith.negf %s : f32"),
          function("maximumf", half + "%s = math.sin %x : f32\n%y = arith.maximumf %s, %h : f32"),
          function("minimumf", half + "%s = math.sin %x : f32\n%y = arith.minimumf %h, %s : f32"),
          function("select", half + "%s = math.cos %x : f32\n%c = arith.cmpf olt, %x, %h : f32\n"
                                    "%y = arith.select %c, %s, %x : f32"),
          function("exp", "%y = math.exp %x : f32"),
          function("log", square + "%y = math.log %p : f32"),
          function("sqrt", square + "%y = math.sqrt %p : f32"),
          function("rsqrt", square + "%y = math.rsqrt %p : f32"),
          function("sin", "%y = math.sin %x : f32"),
          function("cos", "%y = math.cos %x : f32"),
          function("erf", "%y = math.erf %x : f32"),
          function("absf", "%y = math.absf %x : f32"),
          function("tanh", "%y = math.tanh %x : f32"),
          function("powf_two", "%two = arith.constant 2.0 : f32\n%y = math.powf %x, %two : f32"),
          function("powf_constant", square + half + "%y = math.powf %p, %h : f32"),
          function("powf_both", square + "%y = math.powf %p, %x : f32"),
          function("wide",
                   "%w = arith.extf %x : f32 to f64\n%s = arith.mulf %w, %w : f64\n%y = arith.truncf %s : f64 to f32"),
          function("used_twice", "%s = arith.mulf %x, %x : f32\n%y = arith.mulf %s, %x : f32")};
}

/// Gradient of the program's op for a result gradient of ones; the built op is returned.
ElementwiseOp buildGradientOf(Program &program) {
  Operation &op = program.op();
  Value dy = program.body().addArgument(op.getResult(0).getType(), op.getLoc());
  SmallVector<Value> grads(op.getNumOperands());
  OpBuilder builder(program.body().getTerminator());
  cast<DifferentiableOpInterface>(op).buildGradient(builder, dy, BitVector(op.getNumOperands(), true), grads);
  return grads[0].getDefiningOp<ElementwiseOp>();
}
} // namespace

class ScalarFunctionTest : public testing::TestWithParam<OpCase> {};

TEST_P(ScalarFunctionTest, DerivativeEqualsFiniteDifferences) {
  Program forward(GetParam()), program(GetParam());
  ASSERT_TRUE(forward.sound());
  HostTensor x = forward.randomArguments()[0];
  ElementwiseOp gradient = buildGradientOf(program);
  ASSERT_TRUE(succeeded(program.verify()));
  HostTensor dx = program.run({x, HostTensor({40}, 1)}).lookup(gradient.getResult(0));
  auto at = [&](double offset) {
    HostTensor moved = x;
    for (double &value : moved.data)
      value += offset;
    return forward.run({moved}).lookup(forward.op().getResult(0));
  };
  constexpr double step = 1e-3;
  HostTensor up = at(step), down = at(-step), up2 = at(2 * step), down2 = at(-2 * step), numeric({40});
  for (int64_t i = 0; i < 40; ++i)
    numeric[i] = (8 * (up[i] - down[i]) - (up2[i] - down2[i])) / (12 * step);
  EXPECT_LE(relativeDifference(dx, numeric), 1e-6);
}

TEST_P(ScalarFunctionTest, DerivativeHasNoNeedlessArithmetic) {
  Program program(GetParam());
  ElementwiseOp gradient = buildGradientOf(program);
  for (Operation &op : gradient.getBody().front().without_terminator()) {
    EXPECT_FALSE(op.use_empty()) << "unused " << op.getName().getStringRef().str();
    for (Operation &other : gradient.getBody().front().without_terminator())
      EXPECT_TRUE(&op == &other ||
                  !OperationEquivalence::isEquivalentTo(&op, &other, OperationEquivalence::IgnoreLocations));
    if (!isa<arith::MulFOp>(op))
      continue;
    for (Value operand : op.getOperands())
      if (auto constant = operand.getDefiningOp<arith::ConstantOp>()) {
        double value = cast<FloatAttr>(constant.getValue()).getValueAsDouble();
        EXPECT_TRUE(value != 0 && value != 1) << "multiplied by " << value;
      }
  }
}

INSTANTIATE_TEST_SUITE_P(Functions, ScalarFunctionTest, testing::ValuesIn(functions()), caseName);

TEST(ScalarBody, MeansWhatTheOpDoes) {
  unsigned checked = 0;
  for (const OpCase &each : allCases()) {
    Program program(each);
    if (!isa<ScalarOpInterface>(program.op()))
      continue;
    std::vector<HostTensor> arguments = program.randomArguments(), operands;
    Values values = program.run(arguments);
    for (Value operand : program.op().getOperands())
      operands.push_back(values.lookup(operand));
    std::vector<HostTensor> results = runBody(program.op(), operands);
    for (auto [result, tensor] : llvm::zip(program.op().getResults(), results))
      EXPECT_LE(relativeDifference(tensor, values.lookup(result)), 1e-8) << each.name; // constants are f32
    ++checked;
  }
  EXPECT_GE(checked, 7u);
}

TEST(ScalarGradient, LeavesOutInputsThatItDoesNotUse) {
  Program program(function("twice", "%two = arith.constant 2.0 : f32\n%y = arith.mulf %two, %x : f32"));
  ElementwiseOp gradient = buildGradientOf(program);
  EXPECT_EQ(gradient.getXs().size(), 1u); // dy alone: x need not be kept
}

TEST(ScalarGradient, SiluStaysFiniteFarFromZero) {
  Program program({"silu", "%x: tensor<2xf32>", "%y = nn.silu %x : tensor<2xf32> -> tensor<2xf32>"});
  ElementwiseOp gradient = buildGradientOf(program);
  HostTensor x({2}), dy({2}, 1);
  x[0] = -1e4, x[1] = 1e4; // exp(1e4) is infinite
  HostTensor dx = program.run({x, dy}).lookup(gradient.getResult(0));
  EXPECT_EQ(dx[0], 0);
  EXPECT_EQ(dx[1], 1);
}
