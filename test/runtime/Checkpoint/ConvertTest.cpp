// From any layout to any other without running anything, and into one file. The cases C01 (SwiGLU's gate and up under
// tp) and C02 (fused queries, keys and values) are layouts that others got wrong by gluing shards together.
#include "runtime/Checkpoint/Convert.h"
#include "SavedProgram.h"
#include "runtime/Checkpoint/Shard.h"
#include <fmt/format.h>
#include <gmock/gmock.h>

namespace hocket::checkpoint {

using program::DType;
using program::StateKind;
using testing::ElementsAre;
using testing::IsEmpty;

static Found reshardTo(const Found &from, const program::Program &to, const std::string &folder) {
  Index layout = layoutOf(to);
  Match match = matchTensors(layout.tensors, from.index);
  EXPECT_THAT(match.faults, IsEmpty());
  runtime::Status done = reshard(from, layout, match, folder);
  EXPECT_TRUE(done) << done.error().message;
  Found found = openCheckpoint(stepFolder(folder, from.index.step));
  EXPECT_THAT(contentFaults(found, {}), IsEmpty());
  return found;
}

static std::string bytesOf(const std::string &path) {
  auto mapped = MappedFile::open(path);
  return mapped ? std::string((*mapped)->bytes().begin(), (*mapped)->bytes().end()) : "missing";
}

static void expectSameFiles(const Found &a, const Found &b) {
  EXPECT_EQ(indexText(a.index), indexText(b.index));
  for (const File &file : a.index.files)
    EXPECT_TRUE(bytesOf(a.folder + "/" + file.name) == bytesOf(b.folder + "/" + file.name)) << file.name;
}

// [gate; up] of 8 rows each: gate 0 to 7 is 0 … 7, up is 8 … 15. Gluing the shards of tp 4 would mix them.
TEST(Convert, C01GateAndUpOfSwigluUnderTp) {
  TestFolder folder;
  SavedProgram tp4({{"tp", 4}}, {{"gate_up", {2, 8}, {"", "tp"}}}), tp1({{"tp", 1}}, {{"gate_up", {2, 8}, {"", "tp"}}});
  Found four = saveNumbers(folder.path + "/4", tp4.get());
  EXPECT_THAT(numbersIn(four, "rank-0.safetensors", "parameter/gate_up"), ElementsAre(0, 1, 8, 9));
  EXPECT_THAT(numbersIn(four, "rank-3.safetensors", "parameter/gate_up"), ElementsAre(6, 7, 14, 15));
  Found one = reshardTo(four, tp1.get(), folder.path + "/1");
  EXPECT_THAT(numbersIn(one, "rank-0.safetensors", "parameter/gate_up"),
              ElementsAre(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15));
  expectSameFiles(reshardTo(one, tp4.get(), folder.path + "/again"), four);
}

// q0…q3, k0…k3, v0…v3 of 4 heads with one number each are 0…3, 4…7, 8…11.
TEST(Convert, C02FusedQkvIsSplitAsThree) {
  TestFolder folder;
  SavedProgram tp2({{"tp", 2}}, {{"qkv", {3, 4, 1}, {"", "tp"}}}), tp1({{"tp", 1}}, {{"qkv", {3, 4, 1}, {"", "tp"}}});
  Found one = saveNumbers(folder.path + "/1", tp1.get());
  Found two = reshardTo(one, tp2.get(), folder.path + "/2");
  EXPECT_THAT(numbersIn(two, "rank-0.safetensors", "parameter/qkv"), ElementsAre(0, 1, 4, 5, 8, 9));
  EXPECT_THAT(numbersIn(two, "rank-1.safetensors", "parameter/qkv"), ElementsAre(2, 3, 6, 7, 10, 11));
  expectSameFiles(reshardTo(two, tp1.get(), folder.path + "/again"), one);
}

// A parameter and its moments, split evenly and unevenly, over stages and without, through five layouts and back.
TEST(Convert, C05AnyLayoutToAnyLayout) {
  auto states = [](std::vector<uint32_t> last, const char *rows, const char *moments) {
    return std::vector<StateSpec>{{"wte", {11, 6}, {rows}},
                                  {"wte", {11, 6}, {moments}, StateKind::FirstMoment},
                                  {"wte", {11, 6}, {moments}, StateKind::SecondMoment},
                                  {"h.1.w", {5, 7}, {"", "tp"}, StateKind::Parameter, DType::F32, last},
                                  {"h.1.w", {5, 7}, {"dp", "tp"}, StateKind::FirstMoment, DType::F32, last},
                                  {"h.1.w", {5, 7}, {"dp", "tp"}, StateKind::SecondMoment, DType::F32, last},
                                  {"updates", {}, {}, StateKind::Scalar, DType::I64, last}};
  };
  SavedProgram plans[] = {{{{"pp", 2}, {"dp", 2}, {"tp", 2}}, states({1}, "tp", "tp dp")},
                          {{{"tp", 4}}, states({0}, "tp", "tp")},
                          {{{"pp", 4}, {"dp", 2}}, states({3}, "", "dp")},
                          {{{"dp", 3}}, states({0}, "", "dp")},
                          {{{"tp", 1}}, states({0}, "", "")}};
  TestFolder folder;
  Found first = saveNumbers(folder.path + "/first", plans[0].get()), last = first;
  for (int i = 1; i <= 5; ++i) {
    const program::Program &plan = plans[i % 5].get();
    last = reshardTo(last, plan, fmt::format("{}/{}", folder.path, i));
    expectSameFiles(last, saveNumbers(fmt::format("{}/direct{}", folder.path, i), plan));
  }
  expectSameFiles(last, first);
}

TEST(Convert, PrecisionChangesAsMatchSays) {
  TestFolder folder;
  SavedProgram f32({{"tp", 1}}, {{"w", {4}}});
  SavedProgram bf16({{"tp", 2}}, {{"w", {4}, {"tp"}, StateKind::Parameter, DType::BF16},
                                  {"w", {4}, {"tp"}, StateKind::Master},
                                  {"scale", {}, {}, StateKind::Scalar}});
  Found from = saveNumbers(folder.path + "/f32", f32.get());
  Found to = reshardTo(from, bf16.get(), folder.path + "/bf16");
  EXPECT_THAT(numbersIn(to, "rank-1.safetensors", "master/w"), ElementsAre(2, 3));
  EXPECT_EQ(to.index.tensors.size(), 2u); // the scalar has no source: a run starts it from its initial value
  Found back = reshardTo(to, f32.get(), folder.path + "/back");
  expectSameFiles(back, from);
}

TEST(Convert, ExportIsOneFileWithNaturalShapes) {
  TestFolder folder;
  SavedProgram program({{"tp", 4}}, {{"wte", {5, 2}, {"tp"}},
                                     {"wte", {5, 2}, {"tp"}, StateKind::FirstMoment},
                                     {"half", {3}, {}, StateKind::Parameter, DType::BF16},
                                     {"half", {3}, {}, StateKind::Master}});
  Found from = saveNumbers(folder.path + "/from", program.get());
  auto done = exportParameters(from, {}, folder.path + "/model.safetensors");
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(std::tuple(done->tensors, done->elements), std::tuple(2u, 13u));
  Found file{folder.path, {}, {}};
  // Five rows over four ranks: the padding of the last ones is not there.
  EXPECT_THAT(numbersIn(file, "model.safetensors", "wte"), ElementsAre(0, 1, 2, 3, 4, 5, 6, 7, 8, 9));
  EXPECT_EQ(numbersIn(file, "model.safetensors", "half").size(), 1u);                  // 6 bytes
  ASSERT_TRUE(exportParameters(from, DType::F32, folder.path + "/model.safetensors")); // replaces it; from the master
  EXPECT_THAT(numbersIn(file, "model.safetensors", "half"), ElementsAre(1.5, 2.5, 3.5));
}

} // namespace hocket::checkpoint
