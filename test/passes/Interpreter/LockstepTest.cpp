// Several ranks in lockstep: registered ops see all ranks, slots are scattered and gathered by a layout.
#include "mlir/Parser/Parser.h"
#include "passes/Interpreter/Machine.h"
#include "test/passes/Interpreter/TinyModels.h"
#include <gmock/gmock.h>
#include <gtest/gtest.h>
using namespace hocket;
using namespace hocket::interpreter;
using namespace hocket::testing;
using nn::HostTensor;
using nn::SlotKind;

namespace {
/// A step whose begin region adds up an input over the ranks by an op of no known dialect.
const char *const sumProgram = R"mlir(
nn.training_step @train of @m with @r microbatches 1 slots {
  slot input "x" : tensor<2xf32>
  slot value "y" : tensor<2xf32>
} begin {
  %x = read input "x" : tensor<2xf32>
  %y = "test.sum_over_ranks"(%x) : (tensor<2xf32>) -> tensor<2xf32>
  write value "y", %y : tensor<2xf32>
} microbatch {} update {} evaluate {}
)mlir";

struct Parsed {
  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  nn::TrainingStepOp step;
  Parsed() {
    context.loadDialect<nn::NNDialect>();
    context.allowUnregisteredDialects();
    module =
        mlir::parseSourceString<mlir::ModuleOp>(sumProgram, mlir::ParserConfig(&context, /*verifyAfterParse=*/false));
    step = *module->getOps<nn::TrainingStepOp>().begin();
  }
};

llvm::LogicalResult sumOverRanks(mlir::Operation *, llvm::ArrayRef<const PerRank *> operands,
                                 llvm::MutableArrayRef<PerRank> results, const RankGrid &grid) {
  for (HostTensor &result : results[0]) {
    result = HostTensor(result.shape);
    for (int64_t rank = 0; rank < grid.ranks(); ++rank)
      for (int64_t i = 0; i < result.size(); ++i)
        result[i] += (*operands[0])[rank][i];
  }
  return llvm::success();
}

HostTensor pair(double a, double b) {
  int64_t shape[] = {2};
  HostTensor tensor(shape);
  tensor.data = {a, b};
  return tensor;
}
} // namespace

TEST(Lockstep, ARegisteredOpSeesAllRanks) {
  Parsed program;
  LockstepOps ops;
  ops.add("test.sum_over_ranks", sumOverRanks);
  Machine machine(program.step, RankGrid{{{"dp", 3}}}, &ops, Precision::Float64);
  machine.set({SlotKind::Input, "x"}, {pair(1, 2), pair(10, 20), pair(100, 200)});
  ASSERT_TRUE(mlir::succeeded(machine.run(program.step.getBegin())));
  const PerRank *result = machine.get({SlotKind::Value, "y"});
  ASSERT_TRUE(result);
  ASSERT_EQ(result->size(), 3u);
  for (const HostTensor &tensor : *result)
    EXPECT_THAT(tensor.data, ::testing::ElementsAre(111, 222));
}

TEST(Lockstep, AnUnknownOpIsAnError) {
  Parsed program;
  std::string message;
  program.context.getDiagEngine().registerHandler([&](mlir::Diagnostic &diagnostic) { message = diagnostic.str(); });
  Machine machine(program.step, RankGrid{}, nullptr, Precision::Float64);
  machine.set({SlotKind::Input, "x"}, {pair(1, 2)});
  EXPECT_TRUE(mlir::failed(machine.run(program.step.getBegin())));
  EXPECT_EQ(message, "'test.sum_over_ranks' has no reference semantics here");
}

TEST(Lockstep, ASlotThatNobodyWroteIsAnError) {
  Parsed program;
  std::string message;
  program.context.getDiagEngine().registerHandler([&](mlir::Diagnostic &diagnostic) { message = diagnostic.str(); });
  Machine machine(program.step, RankGrid{}, nullptr, Precision::Float64);
  EXPECT_TRUE(mlir::failed(machine.run(program.step.getBegin())));
  EXPECT_EQ(message, "slot 'x' is read before it is written");
}

TEST(Lockstep, RankIsRowMajorOverTheAxes) {
  RankGrid grid{{{"pp", 2}, {"dp", 3}, {"tp", 2}}};
  EXPECT_EQ(grid.ranks(), 12);
  EXPECT_EQ(grid.coordinate(9, "pp"), 1);
  EXPECT_EQ(grid.coordinate(9, "dp"), 1);
  EXPECT_EQ(grid.coordinate(9, "tp"), 1);
  EXPECT_EQ(grid.coordinate(5, "dp"), 2);
  EXPECT_EQ(grid.coordinate(5, "none"), 0);
}

// Replicas that get the same batch stay equal, and the layout's gather sees every rank.
TEST(Lockstep, ReplicasTrainAlike) {
  Program program = compile(recipeFor(tinyGpt, 4), 2);
  ASSERT_TRUE(program.step);
  SlotLayout layout;
  layout.scatter = [](nn::SlotOp, const HostTensor &whole) { return PerRank{whole, whole}; };
  layout.gather = [](nn::SlotOp slot, const PerRank &pieces) -> llvm::FailureOr<HostTensor> {
    if (pieces.size() != 2 || pieces[0].data != pieces[1].data)
      return slot.emitError() << "replicas differ";
    return pieces[0];
  };
  Interpreter one(program.step), two(program.step, RankGrid{{{"dp", 2}}}, nullptr, layout);
  one.initialize(7);
  two.initialize(7);
  Batch batch = randomBatch(2, 2, 5, 11, 2);
  auto a = one.train(batch), b = two.train(batch);
  ASSERT_TRUE(mlir::succeeded(a) && mlir::succeeded(b));
  EXPECT_EQ(a->loss, b->loss);
  for (const std::string &name : one.parameters())
    EXPECT_EQ(one.state(SlotKind::Param, name)->data, two.state(SlotKind::Param, name)->data) << name;
}
