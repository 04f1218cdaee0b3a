// What the gradient's kernels read of each query (FlashAttention-2, algorithm 2, line 4): the sum of dy y, and the
// log-sum-exp as a power of two, both side by side along the sequence, so that a tile of them is one piece of memory.
#include "passes/Codegen/CUDA/Attention.h"
#include "llvm/Support/MathExtras.h"
#include <limits>
using namespace mlir;

namespace hocket::cuda {
Launch emitAttentionRowSums(const AttentionFrame &frame, nn::AttentionGradOp op) {
  AttentionEmit &e = frame.e;
  AttentionSizes sizes(op.getQ(), op.getK(), op.getV());
  Type element = cast<RankedTensorType>(op.getY().getType()).getElementType(), f32 = e.getF32Type();
  int64_t bytes = byteSize(element), width = 16 / bytes;
  if (sizes.e % width != 0)
    width = 1;
  // a row is read by a power of two of lanes, `width` elements each at a time
  int64_t chunks = sizes.e / width, perRow = std::min<int64_t>(32, static_cast<int64_t>(llvm::PowerOf2Ceil(chunks)));
  int64_t rows = AttentionMath::threads / perRow, all = sizes.b * sizes.s * sizes.heads();
  Value index = e.plus(e.times(e.wide(e.block(0)), rows), e.over(e.thread(), perRow));
  Value row = e.least(index, all - 1), start = e.times(row, sizes.e); // all lanes go along: they shuffle
  Type piece = width == 1 ? element : Type(VectorType::get({width}, element));
  Value sum =
      e.loop(e.modulo(e.thread(), perRow), e.i32(chunks), perRow, e.number(0), [&](Value at, ValueRange before) {
         Value offset = e.plus(start, e.times(at, width)), sum = before.front();
         Value dy = e.load(piece, e.address(element, frame.buffer(op.getDy()), offset), width * bytes);
         Value y = e.load(piece, e.address(element, frame.buffer(op.getY()), offset), width * bytes);
         for (int64_t i = 0; i < width; ++i) {
           auto one = [&](Value values) { return e.widened(width == 1 ? values : e.elementOf(values, i)); };
           sum = e.mulAdd(one(dy), one(y), sum);
         }
         return AttentionEmit::Values{sum};
       }).front();
  sum = e.butterfly(Join::Sum, sum, 1, perRow);
  Value writes = e.compare(arith::CmpIPredicate::eq, e.modulo(e.thread(), perRow), e.i32(0));
  e.when(e.both(writes, e.below(index, all)), [&] {
    Value head = e.modulo(row, sizes.heads()), query = e.over(row, sizes.heads());
    Value batch = e.over(query, sizes.s), in = e.modulo(query, sizes.s);
    Value to = e.plus(e.times(e.plus(e.times(batch, sizes.heads()), head), sizes.s), in);
    Value lse = e.load(f32, e.address(f32, frame.buffer(op.getLse()), row), 4);
    double infinity = std::numeric_limits<double>::infinity();
    Value none = arith::CmpFOp::create(e, arith::CmpFPredicate::OEQ, lse, e.number(-infinity));
    e.store(e.choose(none, e.number(infinity), e.mul(lse, e.number(log2e))), e.address(f32, frame.scratch, to), 4);
    e.store(sum, e.address(f32, frame.scratch, e.plus(to, all)), 4);
  });
  return {{}, {static_cast<int64_t>(llvm::divideCeil(all, rows)), 1, 1}, {AttentionMath::threads, 1, 1}, 0};
}
} // namespace hocket::cuda
