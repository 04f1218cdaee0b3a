// See Attention.h: the GPU kernels of the two ops, and what sizes there are kernels for.
#include "passes/Codegen/CUDA/Attention.h"
using namespace mlir;

namespace hocket::cuda {
namespace {
constexpr int64_t mostShared = 163 * 1024, mostBlocks = 65535; ///< of sm_80, the least of all; of grid dimensions y, z

/// Writes GPU kernels of one op; `sound` is lost at the first that no GPU can launch.
class Writer {
public:
  Writer(func::FuncOp kernel, Operation *op, ModuleOp into, int64_t scratchBytes, const AttentionOptions &options)
      : step(kernel, into, scratchBytes), op(op), options(options) {}

  void add(bool hasScratch, llvm::function_ref<Launch(const AttentionFrame &)> body) {
    step.add([&](GpuFrame &gpu) {
      AttentionEmit e(gpu.loc(), op->getContext());
      e.setInsertionPointToEnd(gpu.entry());
      // two blocks of 128 threads share the registers of a multiprocessor: up to 255 each, so that none is spilled to
      // make room for a third block
      gpu.entry()->getParentOp()->setAttr(NVVM::NVVMDialect::getMinctasmAttrName(), e.getI32IntegerAttr(2));
      Value scratch = hasScratch ? gpu.scratch(e, 0) : Value();
      Launch launch = body({e, gpu, scratch, gpu.dynamicShared(e), options});
      check(launch);
      return launch;
    });
  }
  LogicalResult finish() {
    step.finish();
    return success(sound);
  }

private:
  void check(const Launch &launch) {
    if (!sound)
      return;
    sound = launch.sharedBytes <= mostShared && launch.grid[1] <= mostBlocks && launch.grid[2] <= mostBlocks;
    if (launch.sharedBytes > mostShared)
      op->emitOpError("needs ") << launch.sharedBytes << " bytes of shared memory for these head sizes, at most "
                                << mostShared << " are there";
    for (int64_t dimension : {1, 2})
      if (launch.grid[dimension] > mostBlocks)
        op->emitOpError("has ") << launch.grid[dimension] << (dimension == 1 ? " heads" : " sequences") << ", at most "
                                << mostBlocks << " fit one launch";
  }
  StepKernel step;
  Operation *op;
  const AttentionOptions &options;
  bool sound = true;
};
} // namespace

LogicalResult emitAttention(func::FuncOp kernel, nn::AttentionOp op, ModuleOp into, const AttentionOptions &options) {
  Writer writer(kernel, op, into, 0, options);
  writer.add(false, [&](const AttentionFrame &frame) { return emitAttentionForward(frame, op); });
  return writer.finish();
}

LogicalResult emitAttentionGrad(func::FuncOp kernel, nn::AttentionGradOp op, ModuleOp into,
                                const AttentionOptions &options) {
  AttentionSizes sizes(op.getQ(), op.getK(), op.getV());
  Writer writer(kernel, op, into, sizes.b * sizes.heads() * sizes.s * 8, options);
  writer.add(true, [&](const AttentionFrame &frame) { return emitAttentionRowSums(frame, op); });
  for (bool keepsKeys : {false, true})
    writer.add(true, [&](const AttentionFrame &frame) { return emitAttentionBackward(frame, op, keepsKeys); });
  return writer.finish();
}

Value AttentionFrame::buffer(Value tensor) const {
  return isa<BlockArgument>(tensor) ? gpu.buffer(tensor) : gpu.result(tensor);
}
GlobalRows globalRows(const AttentionFrame &frame, Value tensor) {
  auto type = cast<RankedTensorType>(tensor.getType());
  int64_t heads = 1;
  for (int64_t extent : type.getShape().drop_front(2).drop_back())
    heads *= extent;
  return {type.getElementType(), frame.buffer(tensor), type.getDimSize(1), heads, type.getShape().back()};
}
HeadRows headRows(AttentionEmit &e, const GlobalRows &rows, Value batch, Value head) {
  Value row = e.plus(e.times(e.wide(batch), rows.count * rows.heads), head);
  return {&rows, e.times(row, rows.width)};
}

AttentionForm::AttentionForm(const AttentionFrame &frame, Type element, const AttentionSizes &sizes)
    : wide(sizes.d + sizes.e > 128) {
  tensorCores = frame.options.tensorCores && AttentionMath::hasTensorCores(element, sizes.d, sizes.e);
  math = tensorCores ? AttentionMath::tensorCores(frame.e, element) : AttentionMath::plain(frame.e);
}
int64_t AttentionForm::streamedRows(bool keepsKeys) const { return !tensorCores || (keepsKeys && wide) ? 32 : 64; }
} // namespace hocket::cuda
