// A folder of checkpoints: what counts as one, what is kept, and what is said about damage of every kind.
#include "SavedProgram.h"
#include "runtime/Checkpoint/Convert.h"
#include "runtime/Checkpoint/Shard.h"
#include <fmt/format.h>
#include <fstream>
#include <gmock/gmock.h>

namespace hocket::checkpoint {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

static SavedProgram program2() { return SavedProgram({{"tp", 2}}, {{"w", {4, 3}, {"tp"}}, {"b", {3}}}); }

static void overwrite(const std::string &path, uint64_t at, const std::string &bytes) {
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(static_cast<std::streamoff>(at));
  file << bytes;
}

TEST(Folder, KeepsTheNewestAndFindsThem) {
  TestFolder folder;
  SavedProgram program = program2();
  for (uint64_t step : {5, 10, 15, 100})
    saveNumbers(folder.path, program.get(), step);
  std::filesystem::create_directory(folder.path + "/step-7.tmp");
  std::filesystem::create_directory(folder.path + "/step-007");
  std::filesystem::create_directory(folder.path + "/steps");
  EXPECT_THAT(*stepsIn(folder.path), ElementsAre(100, 15));
  EXPECT_TRUE(cleanPartial(folder.path));
  EXPECT_FALSE(std::filesystem::exists(folder.path + "/step-7.tmp"));
  EXPECT_TRUE(std::filesystem::exists(folder.path + "/steps"));
  auto found = candidates(folder.path);
  ASSERT_TRUE(found);
  ASSERT_EQ(found->size(), 2u);
  EXPECT_EQ((*found)[0].index.step, 100u);
  EXPECT_EQ((*candidates(folder.path + "/step-15"))[0].index.step, 15u);
}

TEST(Folder, ACheckpointOfTheSameStepIsReplaced) {
  TestFolder folder;
  SavedProgram program = program2();
  saveNumbers(folder.path, program.get(), 5);
  overwrite(folder.path + "/step-5/rank-0.safetensors", 3, "garbage");
  EXPECT_FALSE(openCheckpoint(folder.path + "/step-5").faults.empty());
  saveNumbers(folder.path, program.get(), 5);
  EXPECT_THAT(openCheckpoint(folder.path + "/step-5").faults, IsEmpty());
  EXPECT_FALSE(std::filesystem::exists(folder.path + "/step-5.old.tmp"));
}

TEST(Folder, DamageIsNamed) {
  TestFolder folder;
  Found sound = saveNumbers(folder.path, program2().get());
  std::string rank0 = sound.folder + "/rank-0.safetensors", rank1 = sound.folder + "/rank-1.safetensors";
  uint64_t size = *fileBytes(rank0);
  EXPECT_THAT(contentFaults(sound, {}), IsEmpty());
  overwrite(rank0, size - 1, "\x7f"); // content only
  EXPECT_THAT(openCheckpoint(sound.folder).faults, IsEmpty());
  EXPECT_THAT(contentFaults(sound, {}),
              ElementsAre(HasSubstr("rank-0.safetensors' is damaged: its content has checksum ")));
  std::filesystem::resize_file(rank0, size - 4);
  std::filesystem::remove(rank1);
  EXPECT_THAT(openCheckpoint(sound.folder).faults,
              ElementsAre(HasSubstr(fmt::format("rank-0.safetensors' has {} bytes, the index says {}", size - 4, size)),
                          HasSubstr("expected a begin and an end within the "), HasSubstr("cannot open '")));
  std::filesystem::remove(sound.folder + "/index.json");
  EXPECT_THAT(openCheckpoint(sound.folder).faults, ElementsAre(HasSubstr("index.json': No such file or directory")));
}

// A shard of the same size from another model: what differs is named, tensor by tensor.
TEST(Folder, AForeignShardIsNamed) {
  TestFolder mine, other;
  Found found = saveNumbers(mine.path, program2().get());
  Found foreign = saveNumbers(other.path, SavedProgram({{"tp", 2}}, {{"v", {4, 3}, {"tp"}}, {"b", {3}}}).get());
  std::filesystem::copy_file(foreign.folder + "/rank-1.safetensors", found.folder + "/rank-1.safetensors",
                             std::filesystem::copy_options::overwrite_existing);
  EXPECT_THAT(
      openCheckpoint(found.folder).faults,
      ElementsAre(HasSubstr("lacks tensor 'parameter/w', of which the index says that it holds [2, 4) x [0, 3)"),
                  HasSubstr("holds tensor 'parameter/v', of which the index knows nothing")));
}

TEST(Folder, OnlyOneRunSavesIntoIt) {
  TestFolder folder;
  auto first = FolderLock::take(folder.path);
  ASSERT_TRUE(first);
  auto second = FolderLock::take(folder.path);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().message, fmt::format("another run saves into '{}'", folder.path));
}

TEST(Folder, TooLittleRoomIsSaidBefore) {
  TestFolder folder;
  runtime::Status ready = prepareFolder(folder.path, uint64_t(1) << 60);
  ASSERT_FALSE(ready);
  EXPECT_EQ(ready.error().kind, runtime::ErrorKind::Lacking);
  EXPECT_THAT(ready.error().message, HasSubstr("a checkpoint needs 1152921504606846976 bytes, the file system of '"));
  EXPECT_TRUE(prepareFolder(folder.path, 1000));
}

TEST(NewFile, IsGoneUnlessFinished) {
  TestFolder folder;
  std::string path = folder.path + "/file";
  {
    auto file = NewFile::create(path, 10, {});
    ASSERT_TRUE(file);
    EXPECT_TRUE(file->write(std::vector<uint8_t>{1, 2, 3}));
    EXPECT_TRUE(fileBytes(path));
  }
  EXPECT_FALSE(fileBytes(path));
  auto file = NewFile::create(path, 3, {});
  EXPECT_TRUE(file->write(std::vector<uint8_t>{1, 2, 3}));
  EXPECT_TRUE(file->finish());
  EXPECT_EQ(*checksumOf(path, {}), program::checksum(std::vector<uint8_t>{1, 2, 3}));
  EXPECT_THAT(NewFile::create(path, 3, {}).error().message, HasSubstr("cannot make '" + path + "': File exists"));
}

} // namespace hocket::checkpoint
