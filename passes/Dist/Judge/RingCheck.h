// What goes around a ring: whose block a value is, and over which blocks a result goes. Claims say how a value is
// split; that a rank holds the block of another rank, or the share of one block, is found here from the ops alone.
//
//   C25  a step around a ring gives the block of the rank before; attention in a ring takes keys, values, positions and
//        documents of one block; results over different blocks are merged (gradients added), each block once; what any
//        other op uses is the rank's own block and goes over all blocks
//   C26  positions and inputs hold the sequence in one order
#pragma once
#include "passes/Dist/Judge/Claims.h"
#include "llvm/ADT/SmallBitVector.h"

namespace hocket::dist::judge {

class RingCheck {
public:
  explicit RingCheck(Claims &claims) : claims(claims) {}
  void run(mlir::Region &region);

private:
  /// A value of the block of the rank `places` before, as far as it goes over the blocks in `covered`.
  struct Part {
    const void *of = nullptr; ///< what it is a part of: the first value, or the attention
    int64_t places = 0;
    llvm::SmallBitVector covered;
    bool isOwn() const { return places == 0 && covered.all(); }
  };
  void examine(mlir::Operation *op);
  void shift(ShiftOp op);
  void positions(nn::PositionsOp op);
  template <typename OpT> void attention(OpT op);
  void join(mlir::Operation *op, mlir::Value a, mlir::Value b);
  void expectOwn(mlir::Operation *op);
  Part partOf(mlir::Value value, int64_t ranks) const;
  int64_t ranksAlong(mlir::Value queries) const;
  std::string text(const Part &part) const;

  Claims &claims;
  llvm::DenseMap<mlir::Value, Part> parts; ///< of values that are no more, or no less, than the rank's own
};

/// C26 for a step.
void checkOrder(Claims &claims);
} // namespace hocket::dist::judge
