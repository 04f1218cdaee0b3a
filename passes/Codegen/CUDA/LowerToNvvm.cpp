// See LowerToNvvm.h.
#include "passes/Codegen/CUDA/LowerToNvvm.h"
#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/GPUToNVVM/GPUToNVVMPass.h"
#include "mlir/Conversion/LLVMCommon/ConversionTarget.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVMPass.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "mlir/Transforms/Passes.h"
using namespace mlir;

namespace hocket::cuda {
namespace {
/// An op that is one instruction: libdevice's square root is the approximate one.
template <typename MathOp, typename LlvmOp> struct AsIntrinsic : OpRewritePattern<MathOp> {
  using OpRewritePattern<MathOp>::OpRewritePattern;
  LogicalResult matchAndRewrite(MathOp op, PatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<LlvmOp>(op, op.getType(), op->getOperands());
    return success();
  }
};

/// Cosine in double, for the learning rate: libdevice's reduces angles of any size, which takes a lot of code. Reduced
/// to a quarter turn in two steps, then a series: exact to the last bits for some thousand turns.
struct CosineInDouble : OpRewritePattern<math::CosOp> {
  using OpRewritePattern<math::CosOp>::OpRewritePattern;
  LogicalResult matchAndRewrite(math::CosOp op, PatternRewriter &rewriter) const override {
    Type real = rewriter.getF64Type();
    if (op.getType() != real)
      return failure();
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    auto number = [&](double value) -> Value { return arith::ConstantOp::create(b, b.getF64FloatAttr(value)); };
    auto fma = [&](Value x, Value y, Value z) -> Value { return LLVM::FMAOp::create(b, real, x, y, z); };
    constexpr double pi = 3.14159265358979311600, rest = 1.22464679914735320717e-16;
    // cos x = sin(x + pi / 2); y: that in (-pi / 2, pi / 2], with the sign of an odd number of half turns
    Value half = fma(op.getOperand(), number(1 / pi), number(0.5));
    Value turns = LLVM::RoundEvenOp::create(b, real, half);
    Value centre = arith::SubFOp::create(b, turns, number(0.5));
    Value y = fma(centre, number(-rest), fma(centre, number(-pi), op.getOperand()));
    Value square = arith::MulFOp::create(b, y, y), sum = number(0);
    double factorial = 1;
    SmallVector<double> terms; // 1, -1/3!, 1/5!, …
    for (int n = 1; n <= 25; n += 2) {
      factorial *= n == 1 ? 1 : static_cast<double>(n) * (n - 1);
      terms.push_back((n / 2 % 2 ? -1 : 1) / factorial);
    }
    for (double term : llvm::reverse(terms))
      sum = fma(sum, square, number(term));
    Value sine = arith::MulFOp::create(b, sum, y);
    Value odd = arith::MulFOp::create(b, turns, number(0.5));
    odd = arith::CmpFOp::create(b, arith::CmpFPredicate::UNE, odd, LLVM::RoundEvenOp::create(b, real, odd).getResult());
    rewriter.replaceOpWithNewOp<arith::SelectOp>(op, odd, arith::NegFOp::create(b, sine), sine);
    return success();
  }
};

/// Sine and cosine take numbers of at most a few turns here (rotary embeddings reduce theirs): a polynomial, where
/// libdevice would bring its reduction of large angles and the local memory that needs.
LogicalResult chooseInstructions(ModuleOp module) {
  RewritePatternSet patterns(module.getContext());
  patterns.add<AsIntrinsic<math::SqrtOp, LLVM::SqrtOp>, AsIntrinsic<math::FmaOp, LLVM::FMAOp>,
               AsIntrinsic<math::RoundEvenOp, LLVM::RoundEvenOp>, AsIntrinsic<math::AbsFOp, LLVM::FAbsOp>>(
      module.getContext());
  patterns.add<CosineInDouble>(module.getContext(), /*benefit=*/2);
  populateMathPolynomialApproximationPatterns(patterns, [](StringRef name) {
    return name == math::SinOp::getOperationName() || name == math::CosOp::getOperationName();
  });
  return applyPatternsGreedily(module, std::move(patterns));
}

struct MathToLibdevice : PassWrapper<MathToLibdevice, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(MathToLibdevice)
  void runOnOperation() override {
    LLVMTypeConverter types(&getContext());
    RewritePatternSet patterns(&getContext());
    populateLibDeviceConversionPatterns(types, patterns);
    ConversionTarget target(getContext());
    target.addIllegalDialect<math::MathDialect>();
    target.markUnknownOpDynamicallyLegal([](Operation *) { return true; });
    if (failed(applyPartialConversion(getOperation(), target, std::move(patterns))))
      signalPassFailure();
  }
};
} // namespace

LogicalResult lowerToNvvm(ModuleOp module) {
  if (failed(chooseInstructions(module)))
    return module.emitError("the choice of instructions did not end");
  PassManager manager(module.getContext());
  // repeated index arithmetic, and what is the same in every turn of a loop
  manager.addPass(createCSEPass());
  manager.addPass(createLoopInvariantCodeMotionPass());
  // vectors of functions become calls a lane; before the blocks, since a call's declaration goes to the module
  manager.addPass(std::make_unique<MathToLibdevice>());
  // while there are no blocks yet: it would merge those that look alike and choose what they read before them
  manager.addPass(createConvertVectorToLLVMPass());
  // loops and branches become blocks; afterwards only straight-line ops are left of other dialects
  manager.addPass(createSCFToControlFlowPass());
  manager.addPass(createArithToLLVMConversionPass());
  manager.addPass(createConvertControlFlowToLLVMPass());
  manager.addPass(createReconcileUnrealizedCastsPass());
  return manager.run(module);
}
} // namespace hocket::cuda
