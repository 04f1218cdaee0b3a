// Headers of safetensors files: what is written reads back; what is hostile is refused with every fault named.
#include "runtime/Checkpoint/Safetensors.h"
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <random>

namespace hocket::checkpoint {

using program::DType;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

static std::vector<uint8_t> fileOf(const std::string &header, uint64_t dataBytes, std::optional<uint64_t> length = {}) {
  uint64_t announced = length.value_or(header.size());
  std::vector<uint8_t> result(8);
  for (int i = 0; i < 8; ++i)
    result[i] = static_cast<uint8_t>(announced >> (8 * i));
  result.insert(result.end(), header.begin(), header.end());
  result.resize(result.size() + dataBytes);
  return result;
}

static ParsedHeader parse(const std::vector<uint8_t> &file) { return parseHeader(file, file.size()); }
static std::vector<std::string> faultsOf(const std::string &header, uint64_t dataBytes) {
  return parse(fileOf(header, dataBytes)).faults;
}

static std::vector<TensorEntry> entries() {
  return {{"big", DType::F64, {3}, 0, 0},
          {"a/b \"c\"", DType::F32, {2, 3}, 0, 0},
          {"scalar", DType::BF16, {}, 0, 0},
          {"none", DType::I32, {0, 5}, 0, 0}};
}

TEST(Safetensors, WhatIsWrittenReadsBack) {
  std::vector<TensorEntry> written = entries();
  std::string start = formatHeader(written, {{"format", "pt"}, {"model", "gpt"}});
  EXPECT_EQ(start.size() % 64, 0u);
  std::vector<uint8_t> file(start.begin(), start.end());
  file.resize(file.size() + 24 + 24 + 2);
  ParsedHeader read = parse(file);
  EXPECT_THAT(read.faults, IsEmpty());
  EXPECT_EQ(read.header.dataOffset, start.size());
  EXPECT_EQ(read.header.metadata.at("model"), "gpt");
  ASSERT_EQ(read.header.tensors.size(), written.size());
  for (const TensorEntry &entry : written) {
    const TensorEntry *found = read.header.find(entry.name);
    ASSERT_NE(found, nullptr) << entry.name;
    EXPECT_EQ(std::tie(found->type, found->shape, found->begin, found->end),
              std::tie(entry.type, entry.shape, entry.begin, entry.end));
  }
}

TEST(Safetensors, LengthsThatPointAway) {
  EXPECT_THAT(parseHeader({}, 0).faults, ElementsAre("0 bytes, a safetensors file has at least 8"));
  EXPECT_THAT(parse({1, 2, 3}).faults, ElementsAre("3 bytes, a safetensors file has at least 8"));
  EXPECT_THAT(parse(fileOf("{}", 0, 3)).faults, ElementsAre("the header's length is 3, 2 bytes follow"));
  EXPECT_THAT(
      parse(fileOf("{}", 0, UINT64_MAX)).faults,
      ElementsAre("the header's length is 18446744073709551615, expected at most 100000000: no safetensors file"));
  EXPECT_THAT(parse(fileOf("{}", 0, 100'000'000)).faults,
              ElementsAre("the header's length is 100000000, 2 bytes follow"));
}

TEST(Safetensors, TextThatIsNoHeader) {
  std::string deep(1 << 20, '[');
  for (const std::string &text :
       {std::string(), std::string("{"), std::string("[]"), std::string("7"), std::string("null"),
        std::string("{\"a\":1}}"), std::string("\xff\xfe{}"), deep, "{\"a\":" + deep})
    EXPECT_THAT(faultsOf(text, 0), ElementsAre("the header is no JSON object")) << text.substr(0, 20);
}

TEST(Safetensors, EveryFaultIsNamed) {
  EXPECT_THAT(faultsOf(R"({"a": 3, "__metadata__": [], "b": {"dtype": "F8", "shape": [2], "data_offsets": [0, 2]},
      "c": {"dtype": "F32", "shape": [-1], "data_offsets": [0, 2.5]}, "d": {"dtype": "F32", "shape": [1], "data_offsets": [4, 0]},
      "e": {"dtype": "F32", "shape": [1], "data_offsets": [8, 12]}, "f": {"dtype": "F32", "shape": [3], "data_offsets": [0, 8]}})",
                       8),
              ElementsAre("__metadata__ is no object", "tensor 'a' is no object",
                          "tensor 'b': dtype 'F8', expected one of F32, F64, BF16, F16, I32, I64",
                          "tensor 'c': shape is no list of whole numbers",
                          "tensor 'c': data_offsets is no list of whole numbers",
                          "tensor 'd': data_offsets [4, 0], expected a begin and an end within the 8 bytes of data",
                          "tensor 'e': data_offsets [8, 12], expected a begin and an end within the 8 bytes of data",
                          "tensor 'f': 8 bytes at data_offsets, its shape [3] of F32 needs 12"));
}

TEST(Safetensors, SizesThatOverflow) {
  EXPECT_THAT(
      faultsOf(R"({"a": {"dtype": "F32", "shape": [4294967296, 4294967296, 4294967296], "data_offsets": [0, 0]}})", 0),
      ElementsAre(HasSubstr("needs more than any file has")));
  // 2^62 * 4 bytes is 0 in 64 bits.
  EXPECT_THAT(faultsOf(R"({"a": {"dtype": "F32", "shape": [4611686018427387904], "data_offsets": [0, 0]}})", 0),
              ElementsAre(HasSubstr("needs more than any file has")));
  EXPECT_THAT(faultsOf(R"({"a": {"dtype": "F32", "shape": [18446744073709551616], "data_offsets": [0, 0]}})", 0),
              ElementsAre("tensor 'a': shape is no list of whole numbers"));
}

TEST(Safetensors, HolesOverlapsAndRepetitions) {
  auto two = [](const char *a, const char *b) {
    return fmt::format(
        R"({{"a": {{"dtype": "I32", "shape": [2], "data_offsets": {}}}, "b": {{"dtype": "I32", "shape": [2], "data_offsets": {}}}}})",
        a, b);
  };
  EXPECT_THAT(faultsOf(two("[0, 8]", "[8, 16]"), 16), IsEmpty());
  EXPECT_THAT(faultsOf(two("[8, 16]", "[0, 8]"), 16), IsEmpty());
  EXPECT_THAT(faultsOf(two("[0, 8]", "[12, 20]"), 20),
              ElementsAre("tensor 'b' begins at byte 12 of the data, after a hole that begins at byte 8"));
  EXPECT_THAT(faultsOf(two("[0, 8]", "[4, 12]"), 12),
              ElementsAre("tensor 'b' begins at byte 4 of the data, inside of another one that ends at byte 8"));
  EXPECT_THAT(faultsOf(two("[0, 8]", "[8, 16]"), 20),
              ElementsAre("the tensors end at byte 16 of the data, the file at byte 20"));
  EXPECT_THAT(
      faultsOf(
          R"({"a": {"dtype": "I32", "shape": [1], "data_offsets": [0, 4]}, "a": {"dtype": "I32", "shape": [1], "data_offsets": [0, 4]}})",
          4),
      ElementsAre("tensor 'a' stands twice in the header"));
}

// A sound header with random bytes changed, cut or repeated either is refused or describes tensors within the file.
TEST(Safetensors, RandomDamage) {
  std::vector<TensorEntry> written = entries();
  std::string start = formatHeader(written, {{"format", "pt"}});
  std::vector<uint8_t> sound(start.begin(), start.end());
  sound.resize(sound.size() + 50);
  std::mt19937 random(11);
  int refused = 0;
  constexpr int rounds = 20000;
  for (int round = 0; round < rounds; ++round) {
    std::vector<uint8_t> file = sound;
    for (uint32_t change = 1 + random() % 3; change-- > 0;) {
      size_t at = random() % start.size();
      switch (random() % 4) {
      case 0:
        file[at] ^= uint8_t(1) << random() % 8;
        break;
      case 1:
        file[at] = "{}[]\",:0123456789-e."[random() % 20];
        break;
      case 2:
        file.resize(at);
        file.resize(sound.size(), ' ');
        break;
      default:
        file.insert(file.begin() + static_cast<long>(at), file[at]);
      }
    }
    ParsedHeader parsed = parse(file);
    refused += !parsed.faults.empty();
    for (const TensorEntry &entry : parsed.header.tensors)
      if (parsed.faults.empty())
        ASSERT_LE(parsed.header.dataOffset + entry.end, file.size());
  }
  EXPECT_GT(refused, rounds / 2);
  EXPECT_LT(refused, rounds); // a changed letter of a name is no fault
}

} // namespace hocket::checkpoint
