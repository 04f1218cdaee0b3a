// See AttentionOp.h.
#include "passes/Codegen/Graph/AttentionOp.h"
using namespace mlir;

namespace hocket::codegen {

static ArrayRef<int64_t> shapeOf(Value tensor) { return cast<RankedTensorType>(tensor.getType()).getShape(); }

AttentionSizes::AttentionSizes(Value q, Value k, Value v)
    : b(shapeOf(q)[0]), s(shapeOf(q)[1]), t(shapeOf(k)[1]), kv(shapeOf(k)[2]),
      g(shapeOf(q).size() == 5 ? shapeOf(q)[3] : 1), d(shapeOf(q).back()), e(shapeOf(v).back()) {}
} // namespace hocket::codegen
