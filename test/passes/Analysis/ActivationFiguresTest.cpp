// The closed form of activation memory against the figures of its paper.
#include "passes/Analysis/ActivationMemory.h"
#include <gtest/gtest.h>
using namespace hocket::analysis;

namespace {
constexpr double gib = 1024.0 * 1024 * 1024;

/// Table 3 of arXiv 2205.05198: sequence 2048, 8 tensor-parallel ranks. The 175B and 530B models interleave 3 chunks.
struct Model {
  const char *name;
  LayerSizes layer;
  PipelineSizes pipeline;
  /// Figure 1, GiB a GPU, and figure 7, per cent of the bytes with nothing but tensor parallelism, as read off by
  /// calculon (calculon/llm/validation.py, kProfile): they show pixels, so 2 % is what they can be held to.
  double none, sequenceAndSelective;
  double sequencePercent, selectivePercent, bothPercent, fullPercent;
};
const Model models[] = {
    {"22B", {2048, 4, 6144, 64, 8}, {48}, 59.25, 9.5625, 66.84, 49.42, 16.18, 7.64},
    {"175B", {2048, 1, 12288, 96, 8}, {96, 8, 3}, 66.84375, 12.3515625, 62.04, 56.53, 18.49, 8.71},
    {"530B", {2048, 1, 20480, 128, 8}, {105, 35, 3}, 114.0234375, 23.076171875, 58.31, 62.04, 20.27, 9.42},
    {"1T", {2048, 1, 25600, 160, 8}, {128, 64}, 131.25, 26.5625, 58.31, 62.04, 20.27, 9.42},
};
LayerSizes splitSequence(LayerSizes layer) {
  layer.sequenceParallel = true;
  return layer;
}
void within(double found, double published, const char *what) {
  EXPECT_NEAR(found, published, 0.02 * published) << what;
}

TEST(ActivationMemory, FigureOne) {
  for (const Model &m : models) {
    within(stageActivationBytes(m.layer, Recomputed::None, m.pipeline) / gib, m.none, m.name);
    within(stageActivationBytes(splitSequence(m.layer), Recomputed::Selective, m.pipeline) / gib,
           m.sequenceAndSelective, m.name);
  }
}

TEST(ActivationMemory, FigureSeven) {
  for (const Model &m : models) {
    double whole = double(layerActivationBytes(m.layer, Recomputed::None));
    auto percent = [&](const LayerSizes &layer, Recomputed recomputed) {
      return 100 * double(layerActivationBytes(layer, recomputed)) / whole;
    };
    within(percent(splitSequence(m.layer), Recomputed::None), m.sequencePercent, m.name);
    within(percent(m.layer, Recomputed::Selective), m.selectivePercent, m.name);
    within(percent(splitSequence(m.layer), Recomputed::Selective), m.bothPercent, m.name);
    within(percent(m.layer, Recomputed::Full), m.fullPercent, m.name);
  }
}

/// Equations 2, 4 and 6, and table 2, in numbers that come out whole.
TEST(ActivationMemory, Equations) {
  for (int64_t t : {1, 2, 4}) {
    LayerSizes layer{64, 3, 128, 8, t};
    int64_t sbh = 64 * 3 * 128, scores = 5 * 8 * 64 * 64 * 3 / t;
    EXPECT_EQ(layerActivationBytes(layer, Recomputed::None), 10 * sbh + 24 * sbh / t + scores);
    EXPECT_EQ(layerActivationBytes(layer, Recomputed::Selective), 10 * sbh + 24 * sbh / t);
    EXPECT_EQ(layerActivationBytes(splitSequence(layer), Recomputed::None), 34 * sbh / t + scores);
    EXPECT_EQ(layerActivationBytes(splitSequence(layer), Recomputed::Selective), 34 * sbh / t);
    EXPECT_EQ(layerActivationBytes(layer, Recomputed::Full), 2 * sbh);
  }
}

/// Section 4.3: p masks of the embedding's dropout; on one stage the inputs of the last norm and of the head, 16-bit,
/// and the logits, 32-bit.
TEST(ActivationMemory, Edges) {
  LayerSizes layer = splitSequence({2048, 4, 6144, 64, 8});
  double sbh = 2048.0 * 4 * 6144;
  EXPECT_DOUBLE_EQ(edgeActivationBytes(layer, 51200, {48}), sbh / 8 * (1 + 4 * (1 + 51200.0 / 6144)));
  EXPECT_DOUBLE_EQ(edgeActivationBytes(layer, 51200, {48, 6}), sbh / 8 * 6);
}

/// A pipeline of one chunk keeps what one stage of all layers keeps; chunks add (p-1)/(p v) of it.
TEST(ActivationMemory, Pipelines) {
  LayerSizes layer{2048, 1, 4096, 32, 4};
  double whole = 48 * double(layerActivationBytes(layer, Recomputed::None));
  EXPECT_DOUBLE_EQ(stageActivationBytes(layer, Recomputed::None, {48, 8}), whole);
  EXPECT_DOUBLE_EQ(stageActivationBytes(layer, Recomputed::None, {48, 4, 2}), whole * (1 + 3.0 / 8));
  EXPECT_DOUBLE_EQ(stageActivationBytes(layer, Recomputed::None, {48, 4, 6}), whole * (1 + 3.0 / 24));
}
} // namespace
