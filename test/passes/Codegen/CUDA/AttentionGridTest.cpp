// Attention's GPU kernels on the emulator, over a grid of head sizes, types and masks; groups, lengths that fit no
// tile, batches and orders of positions take turns. Every case is forward and backward, against the op's meaning in
// f64.
#include "AttentionCase.h"
using namespace hocket::codegen::testing;

namespace {
struct Shape {
  int64_t b, s, t, kv, g;
};
const std::vector<Shape> shapes = {{1, 65, 65, 1, 2}, {2, 64, 64, 2, 1}, {1, 130, 130, 1, 1},
                                   {2, 33, 33, 1, 3}, {3, 1, 1, 1, 1},   {1, 100, 100, 2, 2}};
const std::vector<std::pair<const char *, bool>> masks = {{"causal scale(0.1)", false},
                                                          {"full scale(0.15)", false},
                                                          {"causal scale(0.1) window(20)", false},
                                                          {"causal scale(0.1) softcap(1.5)", false},
                                                          {"causal scale(0.12)", true}};

/// Every case, or every second or third.
void checkGrid(const char *element, size_t step) {
  size_t turn = 0;
  for (int64_t size : {64, 80, 96, 128})
    for (auto [mask, documents] : masks) {
      if (++turn % step)
        continue;
      const Shape &shape = shapes[turn % shapes.size()];
      AttentionCase c{shape.b, shape.s, shape.t, shape.kv, shape.g, size, size, mask, shape.g > 1, documents};
      c.narrowGrads = turn % 2;
      checkAttention(c, element, static_cast<Order>(turn % 4));
    }
}

TEST(AttentionGrid, BFloat16) { checkGrid("bf16", 1); }
TEST(AttentionGrid, Float16) { checkGrid("f16", 2); }
TEST(AttentionGrid, Float32) { checkGrid("f32", 3); }

TEST(AttentionGrid, QueriesAndKeysDiffer) {
  // in number, in head size, in head size that is no multiple of 16; and one that tensor cores do not take
  for (const char *element : {"bf16", "f16"}) {
    checkAttention({1, 33, 130, 1, 3, 96, 64, "full scale(0.1)", true}, element, Order::Rising);
    checkAttention({1, 70, 40, 2, 1, 72, 40, "causal scale(0.2)"}, element, Order::Shuffled);
    checkAttention({1, 20, 200, 1, 1, 64, 128, "full scale(0.1) window(50)"}, element, Order::Zigzag);
    checkAttention({1, 40, 40, 1, 1, 192, 128, "causal scale(0.1)"}, element, Order::Rising);
  }
}

TEST(AttentionGrid, ScalesThatAreNotPositive) {
  checkAttention({1, 65, 65, 1, 1, 64, 64, "causal scale(-0.2)"}, "bf16", Order::Rising);
  checkAttention({1, 40, 40, 1, 1, 16, 16, "full scale(0.0)"}, "f32", Order::Rising);
}
} // namespace
