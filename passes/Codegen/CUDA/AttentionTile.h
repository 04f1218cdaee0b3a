// What attention's kernels share: sizes and mask of the op, the frame of a kernel, who sees whom by tiles, and scores.
//
// A block of threads keeps one tile of rows (queries, or keys in the kernel of dk and dv) and walks over tiles of the
// other side. Positions are operands, so no tile's place says what it sees: each block first reads the positions (and
// documents) of all tiles it may walk over, and notes for each whether none, some or all of its pairs are seen.
#pragma once
#include "passes/Codegen/CUDA/AttentionMath.h"
#include "passes/Codegen/Graph/AttentionOp.h"

namespace hocket::cuda {
using codegen::AttentionMask;
using codegen::AttentionSizes;

/// The parts of a kernel's dynamic shared memory, one after another.
class SharedMemory {
public:
  SharedMemory(AttentionEmit &e, mlir::Value base) : e(e), base(base) {}
  mlir::Value take(int64_t bytes);
  SharedRows take(SharedRows shape);
  /// Makes it at least this large: for what is written over all parts at the end.
  void reach(int64_t bytes) { used = std::max(used, alignedBytes(bytes)); }
  int64_t bytes() const { return used; }
  mlir::Value start() const { return base; }

private:
  AttentionEmit &e;
  mlir::Value base;
  int64_t used = 0;
};

/// Queries or keys of one sequence; null where the mask does not ask for them.
struct AttentionSide {
  mlir::Value positions, documents; ///< i32 in global memory, [batches, count]
  int64_t count;
};

/// Who sees whom, for a block whose rows are [first, first + math.rows()) of `own` and that walks over tiles of `tile`
/// rows of `other`.
class AttentionVisibility {
public:
  using Values = AttentionEmit::Values;
  AttentionVisibility(AttentionEmit &e, AttentionMath &math, SharedMemory &shared, const AttentionMask &mask,
                      AttentionSide own, AttentionSide other, bool ownAreKeys, int64_t tile);
  int64_t tiles() const { return (other.count + tile - 1) / tile; }
  /// Reads this block's rows and classes of all tiles; what `next` reads is there once all threads have arrived.
  void begin(mlir::Value batch, mlir::Value first);
  /// The first index >= i (below end) whose tile, i modulo tiles(), is seen; `end` if there is none.
  mlir::Value next(mlir::Value i, mlir::Value end);
  /// Positions and documents of a tile for masked(), after arrive().
  void fill(mlir::Value tileIndex);
  /// Scores with -inf for pairs that are not seen, where the tile has such pairs.
  Values masked(mlir::ValueRange scores, mlir::Value tileIndex);

private:
  struct Range {
    mlir::Value least, greatest;
  };
  enum Class : int8_t { Unseen, Partly, Wholly };
  Range rangeOf(mlir::Value numbers, mlir::Value first, int64_t rows, int64_t count);
  mlir::Value classOf(mlir::Value tileIndex);
  mlir::Value sees(mlir::Value ownPosition, mlir::Value otherPosition, mlir::Value ownDocument,
                   mlir::Value otherDocument);
  mlir::Value hasHoles(mlir::Value tileIndex); ///< null if no tile has
  Values mask(mlir::ValueRange scores, mlir::Value tileIndex);
  bool tails() const { return other.count % tile != 0; }

  AttentionEmit &e;
  AttentionMath &math;
  const AttentionMask &what;
  AttentionSide own, other;
  bool ownAreKeys;
  int64_t tile;
  mlir::Value classes, tilePositions, tileDocuments; ///< in shared memory
  Range ownPositionRange, ownDocumentRange;
  Values ownPositions, ownDocuments; ///< of this lane's rows
};

/// Scores before the exponential: weights are exp2(sharpness * logit - …).
class AttentionScores {
public:
  AttentionScores(AttentionEmit &e, const AttentionMask &mask);
  double sharpness() const { return sharp; }
  /// Logits of products; `slopes` (if asked for and if scores are capped): their derivatives, without the scale.
  AttentionEmit::Values logits(mlir::ValueRange products, AttentionEmit::Values *slopes);
  /// exp2(sharpness * logit - offset)
  mlir::Value weight(mlir::Value logit, mlir::Value negatedOffset);

private:
  AttentionEmit &e;
  double scale, softcap, sharp;
};
constexpr double log2e = 1.4426950408889634;
} // namespace hocket::cuda
