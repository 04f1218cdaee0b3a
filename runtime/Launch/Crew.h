// The ranks of a run over MPI or TCP as they find each other: on which hosts they are, and whether they are of one
// mind.
#ifndef HOCKET_RUNTIME_LAUNCH_CREW_H
#define HOCKET_RUNTIME_LAUNCH_CREW_H

#include "runtime/Comm/HostsWorld.h"
#include "runtime/Launch/Options.h"

namespace hocket::run {

// What a rank finds when it looks around; the same on all ranks once they have compared.
struct Finding {
  Exit status = Done;
  std::string text; // at most 2000 bytes travel
};

class Crew {
public:
  // Every rank says who and where it is. Fails where ranks do not answer in time.
  static runtime::Result<Crew> gather(runtime::HostsWorld &world, double seconds);

  const std::vector<std::string> &hosts() const { return names; } // by rank
  bool onOneHost() const;
  // Ranks on this rank's machine, in order; the first of them looks at the machine for all.
  std::vector<int> here() const;
  bool leadsHere() const { return here().front() == self; }

  // Compares something all ranks must share; the error names the first that differs from rank 0, and both hosts.
  // `what`: "the executable", "the command line".
  runtime::Status same(std::string_view what, uint64_t mine);
  // All ranks learn what each has found; rank 0 says on stderr what was wrong, once for each host. The first fault's
  // status, or Done.
  runtime::Result<Exit> compare(const Finding &mine);
  // Text of rank 0, on all ranks.
  runtime::Result<std::string> tell(std::string text);
  // The sum of a number over all ranks.
  runtime::Result<uint64_t> sum(uint64_t mine);

private:
  Crew(std::unique_ptr<runtime::Communicator> everyone, int self, double seconds)
      : everyone(std::move(everyone)), self(self), seconds(seconds) {}
  template <class Record> runtime::Result<std::vector<Record>> exchange(const Record &mine);

  std::unique_ptr<runtime::Communicator> everyone;
  int self;
  double seconds;
  std::vector<std::string> names, machines; // by rank
};

} // namespace hocket::run
#endif
