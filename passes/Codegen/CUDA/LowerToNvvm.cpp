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
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
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

/// Sine and cosine take numbers of at most a few turns here (rotary embeddings reduce theirs): a polynomial, where
/// libdevice would bring its reduction of large angles and the local memory that needs.
LogicalResult chooseInstructions(ModuleOp module) {
  RewritePatternSet patterns(module.getContext());
  patterns.add<AsIntrinsic<math::SqrtOp, LLVM::SqrtOp>, AsIntrinsic<math::FmaOp, LLVM::FMAOp>,
               AsIntrinsic<math::RoundEvenOp, LLVM::RoundEvenOp>, AsIntrinsic<math::AbsFOp, LLVM::FAbsOp>>(
      module.getContext());
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
  // loops and branches become blocks; afterwards only straight-line ops are left of other dialects
  manager.addPass(createSCFToControlFlowPass());
  manager.addPass(createConvertVectorToLLVMPass());
  manager.addPass(createArithToLLVMConversionPass());
  manager.addPass(createConvertControlFlowToLLVMPass());
  manager.addPass(createReconcileUnrealizedCastsPass());
  return manager.run(module);
}
} // namespace hocket::cuda
