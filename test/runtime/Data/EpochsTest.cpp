// Samples and epochs as arithmetic (case K03).
#include "runtime/Data/Epochs.h"
#include <gtest/gtest.h>
using namespace hocket::runtime;

TEST(Epochs, SamplesAndWhatIsLeft) {
  struct Row {
    uint64_t tokens, sequence, samples, leftOver;
  };
  for (Row row : {Row{0, 4, 0, 0}, Row{1, 4, 0, 1}, Row{4, 4, 0, 4}, Row{5, 4, 1, 0}, Row{8, 4, 1, 3}, Row{9, 4, 2, 0},
                  Row{10, 4, 2, 1}, Row{10, 1, 9, 0}}) {
    EXPECT_EQ((Epochs{row.tokens, row.sequence}.samples()), row.samples) << row.tokens;
    EXPECT_EQ((Epochs{row.tokens, row.sequence}.leftOver()), row.leftOver) << row.tokens;
  }
}

// 2,113,896,210 tokens at sequence 2048, batches of 4 x 32.
TEST(Epochs, ThePileSubsetOfK03) {
  Epochs epochs{2113896210, 2048};
  EXPECT_EQ(epochs.samples(), 1032175u);
  EXPECT_EQ(epochs.leftOver(), 1809u);
  EXPECT_EQ(epochs.stepsIn(1, 128), 8063u);
  EXPECT_EQ(epochs.touchedBy(8063 * 128), 1u);
  EXPECT_EQ(epochs.touchedBy(8064 * 128), 2u);
  // No sample crosses an epoch; GPT-NeoX's rule over two epochs gives one more.
  EXPECT_EQ(2 * epochs.samples(), 2064350u);
  EXPECT_EQ((2 * epochs.tokens - 1) / epochs.sequence, 2064351u);
}

TEST(Epochs, Summary) {
  Epochs epochs{2113896210, 2048};
  const std::string epoch =
      "an epoch is 1032175 samples of 2048 + 1 tokens; 1809 tokens at the end of the data are not read";
  EXPECT_EQ(epochs.summary(8064, 128), epoch + "\n8064 steps of 128 samples end at sample 17 of epoch 2");
  EXPECT_EQ(epochs.summary(8063, 128), epoch + "\n8063 steps of 128 samples end at sample 1032064 of epoch 1");
  EXPECT_EQ(epochs.summary(1032175, 1), epoch + "\n1032175 steps of 1 samples end at sample 1032175 of epoch 1");
  EXPECT_EQ(epochs.summary(0, 128), epoch);
}
