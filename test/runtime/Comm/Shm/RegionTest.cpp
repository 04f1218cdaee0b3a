// The shared region: what the launcher may ask for, what a rank refuses, status and abort.
#include "runtime/Comm/Shm/Region.h"
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

using namespace hocket::runtime;
using namespace hocket::runtime::shm;
namespace {

std::string faultOf(const RegionSpec &spec) {
  auto region = Region::create(spec);
  return region ? "none" : region.error().message;
}

TEST(Region, RefusesBadGroups) {
  EXPECT_EQ(faultOf({0, {}, {}}), "a world of 0 ranks; at least 1 is needed");
  EXPECT_EQ(faultOf({2, {}, {64}}), "1 arenas for 2 ranks");
  EXPECT_EQ(faultOf({2, {{1, "dp", {0}}}, {0, 0}}), "communicator 1 \"dp\" stands at position 0 of the list");
  EXPECT_EQ(faultOf({2, {{0, "dp", {}}}, {0, 0}}), "communicator 0 \"dp\" has no members");
  EXPECT_EQ(faultOf({2, {{0, "dp", {0, 2}}}, {0, 0}}), "communicator 0 \"dp\" has a member 2; ranks are 0 to 1");
  EXPECT_EQ(faultOf({2, {{0, "dp", {1, 1}}}, {0, 0}}), "communicator 0 \"dp\" has a member twice");
}

TEST(Region, HoldsArenasOfTheSizesAskedFor) {
  RegionSpec spec{3, {{0, "world", {0, 1, 2}}}, {100, 0, 5 << 20}};
  auto region = Region::create(spec);
  ASSERT_TRUE(region);
  EXPECT_EQ(region->worldSize(), 3);
  EXPECT_EQ(Region::sizeBytes(spec), Region::controlBytes(spec) + (2 << 20) + 0 + (6 << 20));
  for (int rank = 0; rank < 3; ++rank) {
    EXPECT_EQ(region->arena(rank).size(), spec.arenaBytes[rank]);
    for (std::byte byte : region->arena(rank))
      ASSERT_EQ(byte, std::byte(0));
  }
  region->arena(2).back() = std::byte(7);
  auto other = Region::map(dup(region->descriptor()));
  ASSERT_TRUE(other);
  EXPECT_EQ(other->arena(2).back(), std::byte(7));
}

TEST(Region, AttachRefusesWhatIsNoRegion) {
  unsetenv(descriptorVariable);
  EXPECT_EQ(Region::attach().error().message, "HOCKET_SHM_FD is not set; ranks are started by hocket-run");
  setenv(descriptorVariable, "7x", 1);
  EXPECT_EQ(Region::attach().error().message, "HOCKET_SHM_FD is \"7x\", not a file descriptor");
  EXPECT_EQ(Region::map(9999).error().message, "descriptor 9999 is no shared region: Bad file descriptor");
  int file = memfd_create("small", 0);
  auto says = [&](const std::string &why) {
    EXPECT_EQ(Region::map(file).error().message, "descriptor " + std::to_string(file) + " is no shared region: " + why);
  };
  says("it has 0 bytes");
  ASSERT_EQ(ftruncate(file, 1 << 20), 0);
  says("its first bytes are not those of a region");
  close(file);
}

TEST(Region, TheFirstAbortCounts) {
  auto region = Region::create({2, {}, {0, 0}});
  ASSERT_TRUE(region);
  EXPECT_FALSE(region->aborted());
  region->abort(1, "out of memory");
  region->abort(-1, "stopped");
  ASSERT_TRUE(region->aborted());
  EXPECT_EQ(region->aborted()->rank, 1);
  EXPECT_EQ(region->aborted()->message, "out of memory");
}

TEST(RankStatus, KeepsTheLastWords) {
  auto region = Region::create({2, {}, {0, 0}});
  ASSERT_TRUE(region);
  RankStatus &status = region->status(1);
  EXPECT_EQ(toString(status.state), "starting");
  EXPECT_EQ(status.row, RankStatus::none);
  EXPECT_EQ(status.error(), "");
  status.fail(std::string(5000, 'x'));
  EXPECT_EQ(status.state, RankState::Failed);
  EXPECT_EQ(status.error(), std::string(RankStatus::errorBytes, 'x'));
  EXPECT_EQ(region->status(0).state, RankState::Starting);
}

} // namespace
