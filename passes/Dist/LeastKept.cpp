// See LeastKept.h.
#include "passes/Dist/LeastKept.h"
#include <algorithm>

namespace hocket::dist {

void LeastKept::connect(unsigned from, unsigned to, int64_t bytes) {
  leaving[from].push_back(static_cast<unsigned>(edges.size()));
  edges.push_back({to, bytes});
  leaving[to].push_back(static_cast<unsigned>(edges.size()));
  edges.push_back({from, 0});
}

LeastKept::Node LeastKept::add(int64_t bytes) {
  leaving.resize(leaving.size() + 2);
  connect(in(values), out(values), bytes);
  return values++;
}
void LeastKept::cannotBeMade(Node value) { connect(source, in(value), endless); }
void LeastKept::isRead(Node value) { connect(out(value), sink, endless); }
void LeastKept::makes(Node operand, Node result) { connect(out(operand), in(result), endless); }

/// Sends what it can along one shortest path; false if there is none.
bool LeastKept::augment() {
  constexpr unsigned none = ~0u;
  llvm::SmallVector<unsigned, 0> by(leaving.size(), none), queue{source};
  for (size_t next = 0; next < queue.size() && by[sink] == none; ++next)
    for (unsigned edge : leaving[queue[next]])
      if (unsigned to = edges[edge].to; edges[edge].left > 0 && by[to] == none && to != source) {
        by[to] = edge;
        queue.push_back(to);
      }
  if (by[sink] == none)
    return false;
  int64_t bytes = endless;
  for (unsigned at = sink; at != source; at = edges[by[at] ^ 1].to)
    bytes = std::min(bytes, edges[by[at]].left);
  for (unsigned at = sink; at != source; at = edges[by[at] ^ 1].to) {
    edges[by[at]].left -= bytes;
    edges[by[at] ^ 1].left += bytes;
  }
  return true;
}

llvm::SmallVector<bool> LeastKept::solve() {
  while (augment())
    ;
  // From the sink backward along what is left: the smallest side of it, so the cut nearest to backward.
  llvm::SmallVector<bool> reaches(leaving.size(), false);
  llvm::SmallVector<unsigned, 0> queue{sink};
  reaches[sink] = true;
  for (size_t next = 0; next < queue.size(); ++next)
    for (unsigned edge : leaving[queue[next]])
      if (unsigned from = edges[edge].to; edges[edge ^ 1].left > 0 && !reaches[from]) {
        reaches[from] = true;
        queue.push_back(from);
      }
  llvm::SmallVector<bool> again(values);
  for (Node value = 0; value < values; ++value)
    again[value] = reaches[in(value)];
  return again;
}
} // namespace hocket::dist
