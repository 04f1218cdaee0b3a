// Which rank reads which sequence, and what is refused.
#include "DataTesting.h"
#include <map>
using namespace hocket::runtime;
using namespace hocket::test;
using testing::HasSubstr;

TEST(BatchReader, TooShortForOneGlobalBatch) {
  TemporaryFile file(counting<uint8_t>(32 * 4)); // one token short of 32 samples of 4 + 1
  Result<BatchReader> reader = BatchReader::create(openFlat(file, DataFormat::U8), {32, 4, 256, 2, 2}, 1);
  ASSERT_FALSE(reader);
  EXPECT_THAT(reader.error().message,
              HasSubstr("its 128 u8 tokens are 31 samples of 4 + 1 tokens, expected at least 32 "
                        "samples (129 tokens) for one global batch"));
  TemporaryFile longer(counting<uint8_t>(32 * 4 + 1));
  EXPECT_TRUE(BatchReader::create(openFlat(longer, DataFormat::U8), {32, 4, 256, 2, 2}, 1));
  TemporaryFile empty(std::vector<uint8_t>{});
  EXPECT_FALSE(BatchReader::create(openFlat(empty, DataFormat::U8), {1, 4, 256, 1, 1}, 1));
}

TEST(BatchReader, EveryPlanReadsTheSameGlobalBatch) {
  constexpr uint64_t sequence = 4, batch = 8, samples = 19;
  TemporaryFile file(counting<uint8_t>(samples * sequence + 1));
  auto startsOf = [&](uint64_t rows, uint64_t shards) {
    auto reader = BatchReader::create(openFlat(file, DataFormat::U8), {batch, sequence, 256, rows, shards}, 5);
    std::vector<std::vector<int>> steps;
    for (uint64_t step = 1; step <= 5; ++step) {
      steps.emplace_back();
      for (uint64_t microbatch = 0; microbatch < batch / rows / shards; ++microbatch)
        for (uint64_t shard = 0; shard < shards; ++shard) {
          std::vector<int32_t> ids(rows * sequence), next(rows * sequence);
          EXPECT_TRUE(reader->read((step - 1) * batch, microbatch, shard, {ids, next, {}}));
          for (uint64_t i = 0; i < ids.size(); ++i)
            EXPECT_EQ(next[i], ids[i] + 1);
          for (uint64_t row = 0; row < rows; ++row)
            steps.back().push_back(ids[row * sequence]);
        }
    }
    return steps;
  };
  auto whole = startsOf(8, 1);
  EXPECT_EQ(startsOf(2, 2), whole);
  EXPECT_EQ(startsOf(1, 4), whole);
  EXPECT_EQ(startsOf(1, 8), whole);
  // 40 samples over an epoch of 19: two whole epochs and two samples of the third.
  std::map<int, int> times;
  for (const auto &step : whole)
    for (int start : step) {
      EXPECT_EQ(start % sequence, 0u);
      ++times[start];
    }
  EXPECT_EQ(times.size(), samples);
  for (auto [start, count] : times)
    EXPECT_TRUE(count == 2 || count == 3);
}

TEST(BatchReader, ChecksIdsWhenTheyAreRead) {
  std::vector<uint8_t> tokens(9, 1);
  tokens[8] = 200; // the last label
  TemporaryFile file(tokens);
  auto reader = BatchReader::create(openFlat(file, DataFormat::U8), {2, 4, 100, 2, 1}, 5);
  std::vector<int32_t> ids(8);
  EXPECT_THAT(reader->read(0, 0, 0, {ids, {}, {}}).error().message, HasSubstr("token id 200 at byte offset 8"));
  EXPECT_THAT(reader->check().error().message, HasSubstr("token id 200 at byte offset 8"));
  EXPECT_TRUE(reader->check(8)); // larger than what is read before the start
}

TEST(BatchReader, TheCursorAloneSaysWhereARunStands) {
  constexpr uint64_t sequence = 4;
  TemporaryFile file(counting<uint8_t>(21 * sequence + 1));
  // Which samples 4 steps of `first` and then steps of `second` sequences read, in order.
  auto samplesOf = [&](uint64_t first, uint64_t second) {
    std::vector<int32_t> starts;
    uint64_t cursor = 0;
    for (uint64_t batch : {first, first, first, first, second, second}) {
      auto reader = BatchReader::create(openFlat(file, DataFormat::U8), {batch, sequence, 256, batch, 1}, 5);
      std::vector<int32_t> ids(batch * sequence);
      EXPECT_TRUE(reader->read(cursor, 0, 0, {ids, {}, {}}));
      for (uint64_t row = 0; row < batch; ++row)
        starts.push_back(ids[row * sequence]);
      cursor += batch;
    }
    return starts;
  };
  std::vector<int32_t> changed = samplesOf(2, 6), same = samplesOf(3, 4);
  ASSERT_EQ(changed.size(), same.size());
  EXPECT_EQ(changed, same);
}

TEST(BatchReader, AModelThatReadsDocumentsNeedsSome) {
  TemporaryFile file(counting<uint8_t>(9));
  BatchShape shape{2, 4, 256, 2, 1, /*documents=*/true};
  EXPECT_THAT(BatchReader::create(openFlat(file, DataFormat::U8), shape, 1).error().message,
              testing::AllOf(testing::StartsWith("the model reads documents, but data file '"),
                             testing::EndsWith("' has none: expected a document-end id or a Megatron-LM index")));
}
