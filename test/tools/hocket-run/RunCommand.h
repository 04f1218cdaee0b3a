// Runs the real hocket-run on the sample executable, and looks at what it leaves behind.
#ifndef HOCKET_TEST_TOOLS_HOCKET_RUN_RUNCOMMAND_H
#define HOCKET_TEST_TOOLS_HOCKET_RUN_RUNCOMMAND_H

#include <functional>
#include <gmock/gmock.h>
#include <string>
#include <vector>

namespace hocket::test {

struct Outcome {
  int status; // of exit; -1: by a signal
  std::string out, error;
};

// Whether `condition` comes to hold within so many seconds; it is looked at every 10 ms.
bool soon(const std::function<bool()> &condition, double seconds = 30);

// A folder of its own for each test, with a copy of the sample executable (so that its processes can be told from those
// of other tests) and a data file; gone at the end.
class LauncherTest : public testing::Test {
protected:
  void SetUp() override;
  void TearDown() override;

  // hocket-run with these arguments; SAMPLE_FAULT is set to `fault` where it is not empty.
  Outcome run(std::vector<std::string> arguments, const std::string &fault = "") const;
  // … -n 4 SAMPLE --data DATA and these.
  Outcome runSample(std::vector<std::string> arguments, const std::string &fault = "") const;
  // Starts it and returns its process id; its output goes to the files out and error of the folder.
  int start(const std::vector<std::string> &arguments, const std::string &fault) const;
  // The same for another program, looked for on the PATH.
  int startProgram(const std::string &program, const std::vector<std::string> &arguments,
                   const std::string &fault) const;
  // Waits for a process that `start` started.
  Outcome wait(int pid) const;

  // Command lines of processes that run this test's copy of the sample.
  std::vector<std::string> rankProcesses() const;
  // Process id of the rank with these coordinates, as its command line writes them; 0 if there is none.
  int rankPid(const std::string &coordinates) const;
  std::string read(const std::string &name) const;
  void write(const std::string &name, const std::string &content) const;

  std::string folder, sample, data;
};

} // namespace hocket::test
#endif
