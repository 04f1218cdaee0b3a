// A rank on the emulator: NCCL's interface over the emulated library over shared memory.
#ifndef HOCKET_TEST_RUNTIME_COMM_CONFORMANCE_NCCLRANK_H
#define HOCKET_TEST_RUNTIME_COMM_CONFORMANCE_NCCLRANK_H

#include "runtime/Comm/Nccl/NcclWorld.h"
#include "runtime/Comm/NcclEmulator/NcclEmulator.h"
#include "runtime/Comm/Shm/ShmWorld.h"
#include <random>

namespace hocket::test {

// A collective without a stream is queued on one that is drawn, and done when the call returns; with a stream it is
// queued there, as NcclWorld does it. Messages without a stream are queued on one that is drawn.
class NcclRank : public runtime::World {
public:
  NcclRank(std::unique_ptr<runtime::shm::ShmWorld> host, std::unique_ptr<runtime::Device> device, uint64_t seed,
           size_t arenaBytes, size_t resident);

  int rank() const override { return host->rank(); }
  int size() const override { return host->size(); }
  std::span<std::byte> arena() override { return world.arena(); }
  runtime::Result<std::unique_ptr<runtime::Communicator>> communicator(const runtime::Group &group,
                                                                       runtime::Deadline deadline) override;
  runtime::Status waitForMessages(runtime::Deadline deadline) override { return world.waitForMessages(deadline); }
  void abort(std::string_view message) override { world.abort(message); }

  runtime::Stream &draw() { return *streams[random() % streams.size()]; }
  // Everything queued.
  runtime::Status finish(double seconds);

private:
  std::unique_ptr<runtime::shm::ShmWorld> host;

public:
  std::unique_ptr<runtime::Device> device;
  runtime::nccl::NcclEmulator emulator;
  std::vector<std::string> issued; // calls, in order: `dp: all_reduce sum of 4 f32`
  runtime::nccl::NcclWorld world;
  std::vector<std::unique_ptr<runtime::Stream>> streams;

private:
  std::mt19937_64 random;
};

} // namespace hocket::test
#endif
