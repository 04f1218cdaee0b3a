// Which dimensions of a model's values are one and the same index: heads, the hidden size of one feed-forward block,
// the vocabulary. Two dimensions are of one class if a forward op runs one factor over both.
#pragma once
#include "passes/Dist/DimensionTies.h"

namespace hocket::dist {

/// What an index is, as far as splits are concerned.
///   Heads       heads of attention without groups, or of its keys and values    legal degrees divide it
///   Groups      query heads of one key/value head                               legal degrees divide it
///   Experts     of a mixture: the first dimension of what is dispatched         legal degrees divide it
///   Vocabulary  rows of a table that token ids index, or logits                 may be uneven
///   Inner       made by one product and contracted by another, and nothing      may be uneven
///               between needs it whole: feed-forward
///   Whole       some op needs it whole: the hidden size under a norm, the size of a head
///   Other       none of these: batch, sequence
enum class DimensionKind { Heads, Groups, Experts, Vocabulary, Inner, Whole, Other };

struct DimensionClass {
  DimensionKind kind = DimensionKind::Other;
  int64_t size = 0;
  llvm::SmallVector<std::pair<nn::SlotOp, int>> params; ///< dimensions of parameters in it, in slot order
  nn::AttentionOp attention;                            ///< for Heads and Groups
  mlir::Operation *neededWhole = nullptr;               ///< for Whole and Experts: an op that needs it so
  bool ofPositions = false;                             ///< rows of a table of learned positions: the sequence
};

class DimensionClasses {
public:
  explicit DimensionClasses(const StepGraph &graph);
  /// In order of the first parameter in each; classes without parameters are left out.
  llvm::ArrayRef<DimensionClass> all() const { return classes; }
  const DimensionClass &of(nn::SlotOp param, int dim) const { return classes[index.lookup({param, dim})]; }

private:
  void collect(const StepGraph &graph);
  void classify(const StepGraph &graph);
  DimensionTies ties;
  llvm::SmallVector<DimensionClass> classes;
  llvm::DenseMap<std::pair<mlir::Operation *, int>, int> index;
  llvm::DenseMap<Dimension, int> ofLeader;
};

/// Degrees over which `heads` query heads on `kvHeads` key/value heads can be split: they divide the heads, and are a
/// divisor or a multiple of the key/value heads.
///   28 on 28: 1, 2, 4, 7, 14, 28     28 on 4: 1, 2, 4, 28     14 on 2: 1, 2, 14
llvm::SmallVector<int64_t> legalDegrees(int64_t heads, int64_t kvHeads);
/// `1, 2, 4, 28`
std::string degreesText(llvm::ArrayRef<int64_t> degrees);
/// `28 heads`, `28 heads with 4 KV heads`
std::string headsText(nn::AttentionOp attention);
std::string headsText(int64_t heads, int64_t kvHeads);
int64_t headCount(nn::AttentionOp attention); ///< of queries
int64_t kvHeadCount(nn::AttentionOp attention);
} // namespace hocket::dist
