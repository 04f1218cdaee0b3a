// Faults planted in the GPU kernels of every emitter but attention's (AttentionFaultTest.cpp), one at a time: each
// barrier left out, each exchange between threads of a warp left out, each division by which a place is found doubled,
// each array of shared memory cut to a quarter. The emulator names each, or the result is another.
#include "EditedKernel.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "llvm/Support/FormatVariadic.h"
using namespace mlir;
using namespace hocket::codegen::testing;
using llvm::formatv;

namespace {
/// Which of a kernel's ops, numbered in order, change nothing where they are spoiled.
using Harmless = std::vector<int>;
struct Case {
  const char *name;
  std::string text;
  int barriers = 0, arrays = 0; ///< arrays of shared memory
  int64_t ids = 7;              ///< operands, as for checkKernel
  std::vector<int64_t> inPlace = {};
  bool positive = false;
  Harmless barriersThatChangeNothing = {}, exchangesThatChangeNothing = {}, arraysThatChangeNothing = {};
};

std::string norm(int64_t rows, int64_t columns, const char *element) {
  return formatv("func.func private @k(%x: {0}, %g: {1}, %b: {1}) -> {0} {{\n"
                 "%y = nn.layer_norm %x, %g, %b : {0}, {1}, {1} -> {0}\n return %y : {0} }",
                 tensor({rows, columns}, element), tensor({columns}, element));
}
std::string sumInPlace(int64_t columns) {
  return formatv("func.func private @k(%r: {0}, %x: {0}, %g: {1}) -> ({0}, {0}) attributes {{hocket.in_place = "
                 "array<i64: 0, 0>} {{\n %s = nn.add %r, %x : {0}, {0} -> {0}\n"
                 "%y = nn.rms_norm %s, %g : {0}, {1} -> {0}\n return %s, %y : {0}, {0} }",
                 tensor({1, columns}), tensor({columns}));
}
std::string lossInPlace() {
  return formatv("func.func private @k(%d: tensor<f32>, %x: {0}, %i: {2}, %l: {1}) -> ({0}, {1}) attributes "
                 "{{hocket.in_place = array<i64: 0, 1, 1, 3>} {{\n"
                 "%y = nn.cross_entropy_grad %d, %x, %i, %l : tensor<f32>, {0}, {2}, {1} -> {0}\n"
                 "%p = nn.pick %x, %i : {0}, {2} -> {1}\n %q = nn.add %p, %l : {1}, {1} -> {1}\n"
                 "return %y, %q : {0}, {1} }",
                 tensor({1, 3, 4099}), tensor({1, 3}), tensor({1, 3}, "i32"));
}
std::string paramGrad() {
  return formatv("func.func private @k(%d: {0}, %x: {0}) -> ({1}, {1}) {{\n"
                 "%y, %b = nn.layer_norm_param_grad %d, %x : {0}, {0} -> {1}, {1}\n return %y, %b : {1}, {1} }",
                 tensor({70, 1280}), tensor({1280}));
}
std::string adamw() {
  return formatv("func.func private @k(%p: {0}, %g: {0}, %m: {0}, %v: {0}, %r: tensor<f32>, %c: tensor<f32>, "
                 "%t: tensor<i64>) -> ({0}, {0}, {0}) {{\n"
                 "%a, %b, %d = nn.adamw %p, %g, %m, %v rate %r clip %c step %t (betas = [0.9, 0.95], eps = 1e-8, "
                 "weight_decay = 0.1, lr_scale = 1.0) : {0}, {0}, {0}, {0}, tensor<f32>, tensor<f32>, tensor<i64> -> "
                 "{0}, {0}, {0}\n return %a, %b, %d : {0}, {0}, {0} }",
                 tensor({2049}));
}
std::string embeddingGrad() {
  return formatv("func.func private @k(%i: {0}, %d: {1}) -> {2} {{\n"
                 "%y = nn.embedding_grad %i, %d : {0}, {1} -> {2}\n return %y : {2} }",
                 tensor({2, 100}, "i32"), tensor({2, 100, 24}), tensor({120, 24}));
}
std::string router() {
  return formatv("func.func private @k(%l: {0}, %p: {1}) -> ({2}, {3}, {4}, tensor<2xf32>) {{\n"
                 "%w, %s, %t, %b = nn.router %l at %p top 2 normalized balance(0.5) : {0}, {1} -> {2}, {3}, {4}, "
                 "tensor<2xf32>\n return %w, %s, %t, %b : {2}, {3}, {4}, tensor<2xf32> }",
                 tensor({2, 9, 65}), tensor({2, 9}, "i32"), tensor({2, 9, 2}), tensor({2, 9, 2}, "i32"),
                 tensor({2, 65, 2}, "i32"));
}
std::string unstack() {
  return formatv("func.func private @k(%x: {0}) -> ({1}, {1}, {1}) {{\n"
                 "%a, %b, %c = nn.unstack %x dim 2 : {0} -> {1}, {1}, {1}\n return %a, %b, %c : {1}, {1}, {1} }",
                 tensor({4, 5, 3, 40}, "bf16"), tensor({4, 5, 40}, "bf16"));
}
std::string pack() {
  return formatv("func.func private @k(%x: {0}) -> {1} {{\n %y = step.pack %x dim 1 pieces 4 : {0} -> {1}\n"
                 "return %y : {1} }",
                 tensor({2, 7, 24}, "bf16"), tensor({4, 2, 2, 24}, "bf16"));
}
std::string rope() {
  return formatv("func.func private @k(%x: {0}, %p: {1}) -> {0} {{\n"
                 "%y = nn.rope %x at %p dims(64) : {0}, {1} -> {0}\n return %y : {0} }",
                 tensor({2, 5, 3, 80}, "bf16"), tensor({2, 5}, "i32"));
}
std::string dispatch() {
  return formatv("func.func private @k(%x: {0}, %s: {1}, %t: {2}) -> {3} {{\n"
                 "%y = nn.dispatch %x by %s, %t  : {0}, {1}, {2} -> {3}\n return %y : {3} }",
                 tensor({2, 7, 24}, "bf16"), tensor({2, 7, 2}, "i32"), tensor({2, 4, 3}, "i32"),
                 tensor({4, 2, 3, 24}, "bf16"));
}
/// Sums of three tensors, two of which have one shape.
std::string group() {
  return formatv("func.func private @k(%x: {0}, %y: {0}, %z: {1}) -> ({2}, {2}, {3}) attributes {{hocket.parts = "
                 "array<i64: 2, 2, 2>} {{\n"
                 "%0 = nn.mul %x, %x : {0}, {0} -> {0}\n %a = nn.sum %0 : {0} -> {2}\n"
                 "%1 = nn.mul %y, %y : {0}, {0} -> {0}\n %b = nn.sum %1 : {0} -> {2}\n"
                 "%2 = nn.mul %z, %z : {1}, {1} -> {1}\n %c = nn.sum %2 : {1} -> {3}\n"
                 "return %a, %b, %c : {2}, {2}, {3} }",
                 tensor({40, 33}), tensor({70, 256}), tensor({33}), tensor({256}));
}

class EmitterFaults : public ::testing::TestWithParam<Case> {
protected:
  void SetUp() override {
    const Case &c = GetParam();
    Kernels kernels(c.text);
    ASSERT_TRUE(kernels.compiled());
    owner = std::make_unique<Kernels>(c.text);
    inputs = randomInputs(owner->function("k"), {.ids = c.ids, .positive = c.positive});
    for (HostBuffer &input : inputs) // a count of updates is none of random ids
      if (input.type.getElementType().isInteger(64))
        input = HostBuffer(input.type, HostTensor({}, 3));
    Outcome run = runEdited(context, c.text, inputs, [](ModuleOp, Launches &) {}, c.inPlace);
    EXPECT_EQ(run.faults, "");
    auto expected = owner->reference("k", inputs);
    for (auto [result, wanted] : llvm::zip(run.results, expected))
      EXPECT_LE(relativeError(result.values(), wanted), 4e-3);
    whole = std::move(run.results);
  }
  /// Which of the ops of a kind may be spoiled without a word and without another result.
  template <typename OpT> Harmless unnoticed(llvm::function_ref<void(OpT)> fault, int *count = nullptr) {
    Harmless found;
    int all = plantEach<OpT>(
        context, GetParam().text, inputs, fault,
        [&](int which, const Outcome &run) {
          if (run.faults.empty() && run.results == whole)
            found.push_back(which);
        },
        GetParam().inPlace);
    if (count)
      *count = all;
    return found;
  }
  MLIRContext context;
  std::unique_ptr<Kernels> owner; ///< of the inputs' types
  std::vector<HostBuffer> inputs, whole;
};

TEST_P(EmitterFaults, EachBarrierLeftOut) {
  int barriers = 0;
  EXPECT_EQ(unnoticed<NVVM::Barrier0Op>([](NVVM::Barrier0Op op) { op.erase(); }, &barriers),
            GetParam().barriersThatChangeNothing);
  EXPECT_EQ(barriers, GetParam().barriers);
}

TEST_P(EmitterFaults, EachExchangeLeftOut) {
  auto keepOwn = [](NVVM::ShflOp op) {
    op.getResult().replaceAllUsesWith(op.getVal());
    op.erase();
  };
  EXPECT_EQ(unnoticed<NVVM::ShflOp>(keepOwn), GetParam().exchangesThatChangeNothing);
}

/// Rows, columns, threads and parts are found by divisions; a wrong one reads or writes elsewhere.
TEST_P(EmitterFaults, EachPlaceWrong) {
  auto other = [](LLVM::UDivOp op) {
    OpBuilder builder(op);
    op.getRhsMutable().assign(LLVM::AddOp::create(builder, op.getLoc(), op.getRhs(), op.getRhs()).getResult());
  };
  EXPECT_EQ(unnoticed<LLVM::UDivOp>(other), Harmless());
}

TEST_P(EmitterFaults, ShortSharedMemory) {
  int arrays = 0;
  auto quarter = [](LLVM::GlobalOp op) { // shared memory begins at multiples of 16 bytes, so half may be whole
    auto array = cast<LLVM::LLVMArrayType>(op.getGlobalType());
    auto shorter = LLVM::LLVMArrayType::get(array.getElementType(), array.getNumElements() / 4);
    op.setGlobalType(shorter);
    op.getInitializerBlock()->walk([&](LLVM::UndefOp undefined) { undefined.getResult().setType(shorter); });
  };
  EXPECT_EQ(unnoticed<LLVM::GlobalOp>(quarter, &arrays), GetParam().arraysThatChangeNothing);
  EXPECT_EQ(arrays, GetParam().arrays);
}

const Case cases[] = {
    {.name = "RowsOfABlock", .text = norm(2, 4100, "bf16"), .barriers = 2, .arrays = 2},
    {.name = "RowsReadAgain", .text = norm(2, 4099, "f32"), .barriers = 2, .arrays = 2},
    {.name = "RowsOfAWarp", .text = norm(9, 250, "bf16")},
    // threads of the last pieces read the first column, which another may have overwritten
    {.name = "RowsInPlace", .text = sumInPlace(1000), .barriers = 1, .inPlace = {0, 0}},
    // not the second barrier: here each thread reads again what it alone overwrites
    {.name = "LongRowsInPlace",
     .text = sumInPlace(4099),
     .barriers = 2,
     .arrays = 1,
     .inPlace = {0, 0},
     .barriersThatChangeNothing = {1}},
    {.name = "RowsAndTheirNumbersInPlace", .text = lossInPlace(), .barriers = 1, .ids = 4099, .inPlace = {0, 1, 1, 3}},
    // not one array: the emulator lays those of all GPU kernels of a step kernel side by side, so that it runs into one
    // that another kernel uses
    {.name = "Columns", .text = paramGrad(), .barriers = 4, .arrays = 6, .arraysThatChangeNothing = {1}},
    // the six numbers of the step
    {.name = "Elements", .text = adamw(), .barriers = 1, .arrays = 6, .positive = true},
    // not the list of tokens with one id, which are few here
    {.name = "EmbeddingGradient",
     .text = embeddingGrad(),
     .barriers = 3,
     .arrays = 3,
     .ids = 120,
     .arraysThatChangeNothing = {2}},
    {.name = "Router", .text = router(), .barriers = 1, .arrays = 1},
    {.name = "Unstack", .text = unstack()},
    {.name = "Pack", .text = pack()},
    {.name = "Rope", .text = rope()},
    {.name = "Dispatch", .text = dispatch()},
    {.name = "Group", .text = group(), .barriers = 4, .arrays = 3, .arraysThatChangeNothing = {0}}, // likewise
};
INSTANTIATE_TEST_SUITE_P(Each, EmitterFaults, ::testing::ValuesIn(cases),
                         [](const auto &info) { return info.param.name; });
} // namespace
