// The world of ranks that torchrun or srun has started (Place.h). Once they have met (Rendezvous.h), all they say to
// each other passes rank 0 (Mail.h): enough to bring together ranks whose data go over NCCL, and correct, but slow, for
// everything else.
#ifndef HOCKET_RUNTIME_COMM_TCP_TCPWORLD_H
#define HOCKET_RUNTIME_COMM_TCP_TCPWORLD_H

#include "runtime/Comm/HostsWorld.h"
#include "runtime/Comm/Tcp/Mail.h"
#include "runtime/Comm/Tcp/Place.h"

namespace hocket::runtime::tcp {

class TcpWorld : public HostsWorld {
public:
  // Joins the run. Fails with Lacking where rank 0 cannot listen, with Timeout where ranks do not come, with Invalid
  // where what started them contradicts itself.
  static Result<std::unique_ptr<TcpWorld>> join(const Place &place, double seconds);
  ~TcpWorld() override;

  int rank() const override { return self; }
  int size() const override { return ranks; }
  std::span<std::byte> arena() override { return memory; }
  Status reserve(size_t bytes) override;
  Result<std::unique_ptr<Communicator>> communicator(const Group &group, Deadline deadline) override;
  Result<std::unique_ptr<Communicator>> everyone() override;
  Status waitForMessages(Deadline deadline) override { return mail.waitForMessages(deadline); }
  void whileWaiting(std::function<bool()> progress) override { mail.setProgress(std::move(progress)); }

  void abort(std::string_view message) override { abort(self, message); }
  void abort(int by, std::string_view message) override;
  bool aborted() const override { return mail.ended().has_value(); }
  std::optional<mpi::Ended> ended() const override { return mail.ended(); }

  mpi::GatheredStatuses &statuses() override { return board; }
  mpi::Lifeline &line() override { return *lifeline; }
  void listen(std::function<void(int)> lost, std::function<void(int, std::string_view)> told) override;

  Status finish(double seconds, const std::function<void()> &met = {}) override;
  bool finished() const override { return !lifeline; }

private:
  TcpWorld(int rank, int size);
  Status meet(const Place &place, double seconds);

  const int self, ranks;
  mpi::GatheredStatuses board;
  Mail mail;
  std::mutex listenMutex;
  std::function<void(int)> onLost;
  std::function<void(int, std::string_view)> onTold;
  std::unique_ptr<mpi::Lifeline> lifeline;
  std::unique_ptr<Communicator> all; // for the end
  std::span<std::byte> memory;
};

} // namespace hocket::runtime::tcp
#endif
