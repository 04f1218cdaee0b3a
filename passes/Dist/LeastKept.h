// Which values of forward to keep so that the others can be made again, at the least bytes: a minimal cut (the idea of
// Horace He's min-cut rematerialization for functorch; the theorem is Ford and Fulkerson's).
//
//   every value is an edge of as many bytes; an op's operands lead to its results; what cannot be made again hangs on
//   the source, what backward reads on the sink. The cut is what is kept, and of equal ones the nearest to backward,
//   so that the fewest ops run again.
//
//   x ─▶ norm ─▶ n ─▶ linear ─▶ f ─▶ gelu ─▶ g     backward reads x, n, f, g; linear is not made again
//   kept: x, f           made again: n, g
#pragma once
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"
#include <cstdint>

namespace hocket::dist {

/// A cut in a graph whose nodes are values. Augmenting paths found breadth first (Edmonds and Karp): some dozens of
/// values and cuts, as a layer has, take no time; quadratic beyond.
class LeastKept {
public:
  using Node = unsigned;
  Node add(int64_t bytes);
  void cannotBeMade(Node value);         ///< from the source
  void isRead(Node value);               ///< by backward: to the sink
  void makes(Node operand, Node result); ///< one operand of the op that makes `result`
  /// True for each value that is made again.
  llvm::SmallVector<bool> solve();

private:
  struct Edge {
    unsigned to;
    int64_t left; ///< capacity that no flow has taken
  };
  static constexpr unsigned source = 0, sink = 1;
  static constexpr int64_t endless = INT64_MAX / 2;
  static unsigned in(Node value) { return 2 + 2 * value; }
  static unsigned out(Node value) { return 3 + 2 * value; }
  void connect(unsigned from, unsigned to, int64_t bytes);
  bool augment();

  llvm::SmallVector<Edge, 0> edges; ///< in pairs: edge and its reverse
  llvm::SmallVector<llvm::SmallVector<unsigned, 4>, 0> leaving{2};
  unsigned values = 0;
};
} // namespace hocket::dist
