// Token files, the order of samples, and which rank reads which sequence.
#include "runtime/Data/BatchReader.h"
#include <fstream>
#include <gmock/gmock.h>
#include <map>
#include <set>

using namespace hocket::runtime;
using testing::HasSubstr;

namespace {
// A file that is gone when the test ends.
struct TemporaryFile {
  std::string path = testing::TempDir() + "hocket-data-" + std::to_string(reinterpret_cast<uintptr_t>(this));
  template <class T> explicit TemporaryFile(const std::vector<T> &tokens) {
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char *>(tokens.data()), static_cast<std::streamsize>(tokens.size() * sizeof(T)));
  }
  ~TemporaryFile() { std::remove(path.c_str()); }
};

TokenFile openFile(const TemporaryFile &file, TokenType type) {
  Result<TokenFile> opened = TokenFile::open(file.path, type);
  EXPECT_TRUE(opened);
  return std::move(*opened);
}

template <class T> std::vector<T> counting(size_t n) {
  std::vector<T> result(n);
  for (size_t i = 0; i < n; ++i)
    result[i] = static_cast<T>(i);
  return result;
}
} // namespace

TEST(SampleOrder, EachEpochIsAPermutation) {
  for (uint64_t n : {1, 2, 3, 5, 64, 65, 1000, 4097}) {
    SampleOrder order(1234, n);
    for (uint64_t epoch : {0, 1, 7}) {
      std::set<uint64_t> seen;
      for (uint64_t i = 0; i < n; ++i)
        seen.insert(order.permuted(epoch, i));
      EXPECT_EQ(seen.size(), n);
      EXPECT_EQ(*seen.rbegin(), n - 1);
    }
  }
}

TEST(SampleOrder, DependsOnSeedAndEpoch) {
  constexpr uint64_t n = 1000;
  SampleOrder a(1, n), b(2, n);
  int sameSeed = 0, sameEpoch = 0, fixed = 0;
  for (uint64_t i = 0; i < n; ++i) {
    sameSeed += a.permuted(0, i) == b.permuted(0, i);
    sameEpoch += a.permuted(0, i) == a.permuted(1, i);
    fixed += a.permuted(0, i) == i;
    EXPECT_EQ(a.sample(n + i), a.permuted(1, i));
  }
  // Two random permutations agree in one place on average.
  EXPECT_LT(sameSeed, 10);
  EXPECT_LT(sameEpoch, 10);
  EXPECT_LT(fixed, 10);
}

TEST(SampleOrder, PlacesAreSpreadEvenly) {
  // Mean of where the first 100 of 1000 land, over 50 epochs: 499.5 with a standard deviation of 4.
  SampleOrder order(9, 1000);
  double sum = 0;
  for (uint64_t epoch = 0; epoch < 50; ++epoch)
    for (uint64_t i = 0; i < 100; ++i)
      sum += static_cast<double>(order.permuted(epoch, i));
  EXPECT_NEAR(sum / 5000, 499.5, 20);
}

TEST(TokenFile, ReadsEveryType) {
  TemporaryFile bytes(counting<uint8_t>(256)), words(counting<uint16_t>(40000)), longs(counting<uint32_t>(70000));
  EXPECT_EQ(openFile(bytes, TokenType::U8).token(255), 255u);
  EXPECT_EQ(openFile(words, TokenType::U16).token(36917), 36917u); // K01: as int16 it would be -28619
  EXPECT_EQ(openFile(longs, TokenType::U32).token(69999), 69999u);
  EXPECT_EQ(openFile(words, TokenType::U8).tokens(), 80000u);
}

TEST(TokenFile, FaultsSayWhatWasFound) {
  EXPECT_THAT(TokenFile::open("/nowhere/tokens", TokenType::U8).error().message,
              "cannot open data file '/nowhere/tokens': No such file or directory");
  TemporaryFile odd(counting<uint8_t>(7));
  EXPECT_THAT(TokenFile::open(odd.path, TokenType::U16).error().message,
              HasSubstr("has 7 bytes, expected a multiple of 2 for u16 tokens"));
}

TEST(TokenFile, NamesTheOffsetOfABadId) {
  std::vector<uint16_t> tokens(10000, 3);
  tokens[5001] = 256;
  TemporaryFile file(tokens);
  TokenFile opened = openFile(file, TokenType::U16);
  EXPECT_TRUE(opened.checkIds(0, 5001, 256));
  EXPECT_THAT(opened.checkIds(0, 10000, 256).error().message,
              HasSubstr("holds token id 256 at byte offset 10002, expected ids below the vocabulary size 256"));
  EXPECT_TRUE(opened.checkIds(0, 10000, 257));
  EXPECT_TRUE(opened.checkIds(0, 10000, 65536));
}

TEST(BatchReader, TooShortForOneGlobalBatch) {
  TemporaryFile file(counting<uint8_t>(32 * 4)); // one token short of 32 samples of 4 + 1
  Result<BatchReader> reader = BatchReader::create(openFile(file, TokenType::U8), {32, 4, 256, 2, 2}, 1);
  ASSERT_FALSE(reader);
  EXPECT_THAT(reader.error().message,
              HasSubstr("its 128 u8 tokens are 31 samples of 4 + 1 tokens, expected at least 32 "
                        "samples (129 tokens) for one global batch"));
  TemporaryFile longer(counting<uint8_t>(32 * 4 + 1));
  EXPECT_TRUE(BatchReader::create(openFile(longer, TokenType::U8), {32, 4, 256, 2, 2}, 1));
  TemporaryFile empty(std::vector<uint8_t>{});
  EXPECT_FALSE(BatchReader::create(openFile(empty, TokenType::U8), {1, 4, 256, 1, 1}, 1));
}

// Samples per epoch of case K03: 2,113,896,210 tokens, sequence 2048.
TEST(BatchReader, SamplesPerEpoch) { EXPECT_EQ(BatchReader::samplesIn(2113896210, 2048), 1032175u); }

TEST(BatchReader, EveryPlanReadsTheSameGlobalBatch) {
  constexpr uint64_t sequence = 4, batch = 8, samples = 19;
  TemporaryFile file(counting<uint8_t>(samples * sequence + 1));
  auto startsOf = [&](uint64_t rows, uint64_t shards) {
    auto reader = BatchReader::create(openFile(file, TokenType::U8), {batch, sequence, 256, rows, shards}, 5);
    std::vector<std::vector<int>> steps;
    for (uint64_t step = 1; step <= 5; ++step) {
      steps.emplace_back();
      for (uint64_t microbatch = 0; microbatch < batch / rows / shards; ++microbatch)
        for (uint64_t shard = 0; shard < shards; ++shard) {
          std::vector<int32_t> ids(rows * sequence), next(rows * sequence);
          EXPECT_TRUE(reader->read(step, microbatch, shard, ids, next));
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
  auto reader = BatchReader::create(openFile(file, TokenType::U8), {2, 4, 100, 2, 1}, 5);
  std::vector<int32_t> ids(8);
  EXPECT_THAT(reader->read(1, 0, 0, ids, {}).error().message, HasSubstr("token id 200 at byte offset 8"));
  EXPECT_THAT(reader->checkIds().error().message, HasSubstr("token id 200 at byte offset 8"));
  EXPECT_TRUE(reader->checkIds(8)); // larger than what is read before the start
}
