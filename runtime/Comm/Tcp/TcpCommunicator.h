// A communicator over Mail. A collective: every member sends what it asks for and its input to member 0, which
// compares, combines in the order of members, and answers each with its output.
#ifndef HOCKET_RUNTIME_COMM_TCP_TCPCOMMUNICATOR_H
#define HOCKET_RUNTIME_COMM_TCP_TCPCOMMUNICATOR_H

#include "runtime/Comm/HostCommunicator.h"
#include "runtime/Comm/Tcp/Mail.h"

namespace hocket::runtime::tcp {

class TcpCommunicator : public HostCommunicator {
public:
  // `calls` counts the collectives that this member has come to. Mail, statuses and counter outlive it.
  TcpCommunicator(Group group, int self, Mail &mail, const mpi::GatheredStatuses &statuses,
                  std::atomic<uint32_t> &calls);

private:
  Status collective(const Call &call, const std::byte *in, std::byte *out, Deadline deadline) override;
  Status ask(const Call &call, const std::byte *in, std::byte *out, Deadline deadline);
  Status answer(const Call &call, const std::byte *in, std::byte *out, Deadline deadline);
  Status refuse(const Error &error);
  size_t outputBytes(const Call &call) const;
  std::vector<int> absent(int from) const;
  Error unanswered(const Call &call, std::vector<int> missing) const;
  Error ended(const Call &call, Error error, const std::vector<int> &missing) const;
  Result<std::unique_ptr<Request>> post(std::byte *data, size_t count, ElementType type, int peer, bool sends) override;
  Mail::Way way(int member) const { return {group().id, group().ranks[static_cast<size_t>(member)]}; }

  Mail &mail;
  const mpi::GatheredStatuses &statuses;
  std::atomic<uint32_t> &calls;
};

} // namespace hocket::runtime::tcp
#endif
