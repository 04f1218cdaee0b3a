// When the launcher is killed its ranks die, and nothing is left in /dev/shm. The test is the grandparent: as a
// subreaper it inherits the ranks and sees how they end.
#include "runtime/Comm/Shm/ShmWorld.h"
#include <filesystem>
#include <gtest/gtest.h>
#include <set>
#include <signal.h>
#include <string>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace hocket::runtime;
namespace {

std::set<std::string> sharedMemoryFiles() {
  std::set<std::string> names;
  for (const auto &entry : std::filesystem::directory_iterator("/dev/shm"))
    names.insert(entry.path());
  return names;
}

// A rank: joins, says so, and waits for one that never comes.
[[noreturn]] void rank(int launcher, shm::Region region, int number, int ready) {
  if (!shm::dieWithParent(launcher))
    _exit(2);
  shm::ShmWorld world(std::move(region), number);
  auto comm = world.communicator({0, "world", {0, 1, 2}}, deadlineIn(60));
  if (!comm || write(ready, "r", 1) != 1)
    _exit(3);
  static_cast<void>((*comm)->barrier(deadlineIn(60)));
  _exit(4);
}

// A launcher: starts ranks 0 and 1 of 3 and sleeps.
[[noreturn]] void launcher(int ready) {
  auto region = shm::Region::create({3, {{0, "world", {0, 1, 2}}}, {64, 64, 64}});
  int self = getpid();
  for (int number = 0; number < 2; ++number)
    if (fork() == 0)
      rank(self, std::move(*region), number, ready);
  for (;;)
    pause();
}

TEST(LauncherDeath, EndsTheRanks) {
  std::set<std::string> before = sharedMemoryFiles();
  ASSERT_EQ(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  int parent = fork();
  if (parent == 0)
    launcher(ready[1]);
  char letters[2];
  ASSERT_EQ(read(ready[0], letters, 1), 1);
  ASSERT_EQ(read(ready[0], letters, 1), 1);
  kill(parent, SIGKILL);
  int ended = 0;
  for (int status; waitpid(-1, &status, 0) > 0; ++ended)
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
  EXPECT_EQ(ended, 3);
  EXPECT_EQ(sharedMemoryFiles(), before);
}

TEST(LauncherDeath, IsSeenWhenItCameFirst) {
  Status status = shm::dieWithParent(getppid() + 1);
  prctl(PR_SET_PDEATHSIG, 0);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().message, "the launcher, process " + std::to_string(getppid() + 1) + ", is gone");
}

} // namespace
