// Two hosts on this machine for the tests of runs over MPI: network namespaces joined by a pair of virtual interfaces,
// each with a host name of its own. All traffic of the ranks stays between them. Needs root (or the right to make
// namespaces) and `ip`; tests are skipped where that is missing.
#ifndef HOCKET_TEST_TOOLS_HOCKET_RUN_TWOHOSTS_H
#define HOCKET_TEST_TOOLS_HOCKET_RUN_TWOHOSTS_H

#include "RunCommand.h"

namespace hocket::test {

class TwoHosts : public LauncherTest {
protected:
  void SetUp() override;
  void TearDown() override;

  // hocket-run --hosts FILE -n 4 SAMPLE --data DATA and these, on the first host.
  int startOnHosts(std::vector<std::string> arguments);
  Outcome runOnHosts(std::vector<std::string> arguments);
  void cutLink();
  // Processes that live on the two hosts.
  std::vector<int> processes() const;
  // The ranks among those of one host, 0 or 1.
  std::vector<int> processesOnHost(int host) const;

  std::string hosts;    // the file
  std::string names[2]; // of the hosts and their namespaces

private:
  int guard = -1, guardPid = 0; // a process that takes everything down when this pipe closes, however the test ends
};

// Runs a shell command; its exit status.
int shell(const std::string &command);

} // namespace hocket::test
#endif
