// Products of 16-bit floats where the machine or oneDNN has none: panels of A and B become f32, blocks of C are added
// up in f32 and rounded when their sum is complete. A thread keeps 2.5 MiB for it.
#include "runtime/Device/Cpu/Products.h"
#include <algorithm>
#include <memory>

namespace hocket::runtime {
namespace {

// Sizes of a block of C and of a panel's depth: a panel is widened once for 256 or more uses of each of its elements.
constexpr int64_t blockRows = 256, blockColumns = 512, blockDepth = 512;

struct Scratch {
  std::unique_ptr<float[]> a = std::make_unique_for_overwrite<float[]>(blockRows * blockDepth);
  std::unique_ptr<float[]> b = std::make_unique_for_overwrite<float[]>(blockDepth * blockColumns);
  std::unique_ptr<float[]> c = std::make_unique_for_overwrite<float[]>(blockRows * blockColumns);
};

class Block {
public:
  Block(const Gemm &g, Scratch &scratch, int64_t row, int64_t column)
      : g(g), scratch(scratch), row(row), column(column), rows(std::min(blockRows, g.m - row)),
        columns(std::min(blockColumns, g.n - column)) {}

  int run(const uint16_t *a, const uint16_t *b, void *c) const {
    bool direct = g.resultType == GemmType::F32;
    float *sums = direct ? static_cast<float *>(c) + row * g.ldc + column : scratch.c.get();
    uint16_t *results = direct ? nullptr : static_cast<uint16_t *>(c) + row * g.ldc + column;
    for (int64_t i = 0; !direct && g.accumulate && i < rows; ++i)
      widen(g.type, results + i * g.ldc, sums + i * columns, columns);
    for (int64_t from = 0; from < g.k; from += blockDepth)
      if (int status = addPanel(a, b, sums, direct ? g.ldc : columns, from))
        return status;
    for (int64_t i = 0; !direct && i < rows; ++i)
      narrow(g.type, sums + i * columns, results + i * g.ldc, columns);
    return 0;
  }

private:
  int addPanel(const uint16_t *a, const uint16_t *b, float *sums, int64_t leading, int64_t from) const {
    int64_t depth = std::min(blockDepth, g.k - from);
    // as they are stored, transposed or not
    int64_t aRows = g.transA ? depth : rows, aColumns = g.transA ? rows : depth;
    int64_t bRows = g.transB ? columns : depth, bColumns = g.transB ? depth : columns;
    a += g.transA ? from * g.lda + row : row * g.lda + from;
    b += g.transB ? column * g.ldb + from : from * g.ldb + column;
    for (int64_t i = 0; i < aRows; ++i)
      widen(g.type, a + i * g.lda, scratch.a.get() + i * aColumns, aColumns);
    for (int64_t i = 0; i < bRows; ++i)
      widen(g.type, b + i * g.ldb, scratch.b.get() + i * bColumns, bColumns);
    Gemm part{g.transA, g.transB, g.accumulate || from > 0, rows, columns, depth, aColumns, bColumns, leading};
    return multiplySingle(part, scratch.a.get(), scratch.b.get(), sums);
  }

  const Gemm &g;
  Scratch &scratch;
  int64_t row, column, rows, columns;
};

} // namespace

int multiplyWidened(const Gemm &g, const uint16_t *a, const uint16_t *b, void *c) {
  thread_local Scratch scratch;
  for (int64_t row = 0; row < g.m; row += blockRows)
    for (int64_t column = 0; column < g.n; column += blockColumns)
      if (int status = Block(g, scratch, row, column).run(a, b, c))
        return status;
  return 0;
}

} // namespace hocket::runtime
