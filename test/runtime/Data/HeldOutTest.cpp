// Held-out files: in order, every token but the first predicted once, whatever the remainder and the plan.
#include "runtime/Data/HeldOutReader.h"
#include <fstream>
#include <gmock/gmock.h>
#include <unistd.h>

using namespace hocket::runtime;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {
// Tokens 0, 1, 2, … in a file that is gone at once: a mapping stays.
Result<HeldOutReader> readerOf(uint64_t tokens, const BatchShape &shape, uint64_t most = 0) {
  std::string path = testing::TempDir() + "hocket-held-out-" + std::to_string(::getpid());
  std::vector<char> content(tokens);
  for (uint64_t i = 0; i < tokens; ++i)
    content[i] = static_cast<char>(i);
  std::ofstream(path, std::ios::binary).write(content.data(), static_cast<std::streamsize>(tokens));
  Result<TokenStream> file = TokenStream::open({path, DataFormat::U8, {}, {}, false, false});
  std::remove(path.c_str());
  if (!file)
    return std::move(file.error());
  return HeldOutReader::create(std::move(*file), shape, most);
}

constexpr BatchShape plain{2, 4, 200, 2, 1}; // 2 sequences of 4 tokens, one shard, one microbatch
} // namespace

TEST(HeldOutReader, EveryTokenButTheFirstIsPredictedOnce) {
  for (uint64_t tokens = 2; tokens <= 40; ++tokens) {
    Result<HeldOutReader> reader = readerOf(tokens, plain);
    ASSERT_TRUE(reader);
    std::vector<int32_t> labels, ids(8), next(8);
    for (uint64_t batch = 0; batch < reader->batches(); ++batch) {
      ASSERT_TRUE(reader->read(batch, 0, 0, {ids, next, {}}));
      uint64_t before = labels.size();
      for (size_t i = 0; i < 8; ++i)
        if (next[i] != -1) {
          EXPECT_EQ(next[i], ids[i] + 1); // of the token before it
          labels.push_back(next[i]);
        }
      EXPECT_GT(labels.size(), before) << "a batch without a token that counts";
    }
    ASSERT_EQ(labels.size(), tokens - 1);
    EXPECT_EQ(reader->countedTokens(), tokens - 1);
    for (size_t i = 0; i < labels.size(); ++i)
      EXPECT_EQ(labels[i], static_cast<int32_t>(i + 1));
  }
}

TEST(HeldOutReader, WhatLiesPastTheEndIsNotCounted) {
  Result<HeldOutReader> reader = readerOf(11, plain); // 10 to predict: two sequences, half a third, none
  ASSERT_TRUE(reader);
  EXPECT_EQ(reader->batches(), 2u);
  std::vector<int32_t> ids(8), next(8);
  ASSERT_TRUE(reader->read(1, 0, 0, {ids, next, {}}));
  EXPECT_THAT(ids, ElementsAre(8, 9, 10, 0, 0, 0, 0, 0));
  EXPECT_THAT(next, ElementsAre(9, 10, -1, -1, -1, -1, -1, -1));
}

TEST(HeldOutReader, PlansCutTheSameBatch) {
  std::vector<int32_t> whole(64), none;
  Result<HeldOutReader> one = readerOf(50, {8, 4, 200, 8, 1}), four = readerOf(50, {8, 4, 200, 2, 2});
  ASSERT_TRUE(one && four);
  ASSERT_TRUE(one->read(1, 0, 0, {std::span(whole).first(32), {}, {}}));
  for (uint64_t microbatch = 0; microbatch < 2; ++microbatch)
    for (uint64_t shard = 0; shard < 2; ++shard) {
      std::vector<int32_t> part(8);
      ASSERT_TRUE(four->read(1, microbatch, shard, {part, {}, {}}));
      EXPECT_TRUE(
          std::equal(part.begin(), part.end(), whole.begin() + static_cast<long>(8 * (2 * microbatch + shard))));
    }
}

TEST(HeldOutReader, AtMostSoManyBatches) {
  Result<HeldOutReader> reader = readerOf(100, plain, 3);
  ASSERT_TRUE(reader);
  EXPECT_EQ(reader->batches(), 3u);
  EXPECT_EQ(reader->countedTokens(), 24u);
  EXPECT_EQ(readerOf(20, plain, 9)->batches(), 3u);
}

TEST(HeldOutReader, RefusesWhatCannotBePredicted) {
  for (uint64_t tokens : {0, 1}) {
    Result<HeldOutReader> reader = readerOf(tokens, plain);
    ASSERT_FALSE(reader);
    EXPECT_THAT(reader.error().message, HasSubstr("u8 tokens, expected at least 2 (one to read, one to predict)"));
  }
  Result<HeldOutReader> reader = readerOf(30, {2, 4, 25, 2, 1}); // ids 25 to 29
  ASSERT_TRUE(reader);
  EXPECT_THAT(reader->check().error().message, HasSubstr("token id 25 at byte offset 25"));
  std::vector<int32_t> ids(8), next(8);
  EXPECT_TRUE(reader->read(2, 0, 0, {ids, next, {}}));
  EXPECT_FALSE(reader->read(3, 0, 0, {ids, next, {}}));
  EXPECT_TRUE(readerOf(30, {2, 4, 25, 2, 1}, 3)->check()); // only what is read
}
