// The index: what is written reads back; every fault of a wrong one is named, and none of its names leads elsewhere.
#include "SavedProgram.h"
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>
#include <random>

namespace hocket::checkpoint {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

static Index sample() {
  SavedProgram program({{"tp", 2}}, {{"w", {4, 3}, {"tp"}}, {"b", {3}}});
  Index index = layoutOf(program.get());
  index.step = 20;
  index.samples = 80;
  index.seed = UINT64_MAX;
  index.data = {"da\xffta", "u16", 12, UINT64_MAX - 1};
  index.files[0].bytes = 100;
  index.files[0].checksum = 0xfedcba9876543210;
  return index;
}

/// The index with one change, sealed again: as who wants to do harm would.
template <class Change> static std::vector<std::string> faultsAfter(Change change) {
  json content = json::parse(indexText(sample()));
  content.erase("checksum");
  change(content);
  std::string text = content.dump();
  content["checksum"] =
      fmt::format("{:016x}", program::checksum({reinterpret_cast<const uint8_t *>(text.data()), text.size()}));
  return parseIndex(content.dump()).faults;
}

TEST(Index, WhatIsWrittenReadsBack) {
  Index written = sample();
  ParsedIndex read = parseIndex(indexText(written));
  EXPECT_THAT(read.faults, IsEmpty());
  EXPECT_EQ(indexText(read.index), indexText(written));
  EXPECT_EQ(read.index.seed, UINT64_MAX);
  EXPECT_EQ(read.index.files[0].checksum, 0xfedcba9876543210);
  EXPECT_EQ(read.index.tensors[0].pieces[1].box, (Box{{2, 4}, {0, 3}}));
}

TEST(Index, EveryChangedByteIsFound) {
  std::string sound = indexText(sample());
  std::mt19937 random(3);
  for (int round = 0; round < 3000; ++round) {
    std::string text = sound;
    size_t at = random() % text.size();
    text[at] = static_cast<char>(text[at] ^ (1 << random() % 7));
    bool space =
        std::isspace(static_cast<unsigned char>(sound[at])) && std::isspace(static_cast<unsigned char>(text[at]));
    if (parseIndex(text).faults.empty() && !space)
      ADD_FAILURE() << "byte " << at << ": " << sound.substr(at - std::min<size_t>(at, 20), 40);
  }
}

TEST(Index, OtherFilesAndVersions) {
  EXPECT_THAT(parseIndex("").faults, ElementsAre("it is no index of a checkpoint"));
  EXPECT_THAT(parseIndex("{\"metadata\": {}, \"weight_map\": {}}").faults,
              ElementsAre("it is no index of a checkpoint"));
  EXPECT_THAT(parseIndex(std::string(1 << 20, '[')).faults, ElementsAre("it is no index of a checkpoint"));
  EXPECT_THAT(faultsAfter([](json &index) { index["version"] = 2; }),
              ElementsAre("it has version 2, this program reads version 1"));
}

TEST(Index, EveryFaultIsNamed) {
  EXPECT_THAT(faultsAfter([](json &index) {
                index.erase("step");
                index["seed"] = -1;
                index["mesh"][0] = "tp";
                index["files"][0]["name"] = "../../etc/passwd";
                index["files"][1]["checksum"] = "12";
                index["tensors"][0]["pieces"][0]["file"] = 9;
                index["tensors"][1]["kind"] = "gradient";
              }),
              ElementsAre("the index: step is missing", "the index: seed is of another type than expected",
                          "the index: an axis of the mesh is no pair of name and size",
                          "file 0: '../../etc/passwd' is no plain file name",
                          "file 1: checksum is '12', expected 16 hexadecimal digits",
                          "tensor 0: a piece lies in file 9, there are 2", "tensor 0: kind 'gradient' is unknown"));
}

TEST(Index, BoxesThatDoNotMakeUpATensor) {
  auto box = [](json &index) -> json & { return index["tensors"][0]["pieces"][1]["box"][0]; };
  EXPECT_THAT(faultsAfter([&](json &index) { box(index) = {1, 4}; }),
              ElementsAre("parameter 'w' (4x3 F32): boxes [0, 2) x [0, 3) and [1, 4) x [0, 3) overlap"));
  EXPECT_THAT(faultsAfter([&](json &index) { box(index) = {3, 4}; }),
              ElementsAre("parameter 'w' (4x3 F32): 9 of 12 elements are stored"));
  EXPECT_THAT(faultsAfter([&](json &index) { box(index) = {2, UINT64_MAX}; }),
              ElementsAre(HasSubstr("is no part of 4x3")));
  EXPECT_THAT(faultsAfter([&](json &index) { index["tensors"][0]["shape"] = {UINT64_MAX, UINT64_MAX}; }),
              ElementsAre(HasSubstr("expected extents of at least 1 and at most 2^48 elements")));
  EXPECT_THAT(faultsAfter([&](json &index) { index["tensors"].push_back(index["tensors"][1]); }),
              ElementsAre("parameter 'b' (3 F32): is listed twice"));
}

} // namespace hocket::checkpoint
