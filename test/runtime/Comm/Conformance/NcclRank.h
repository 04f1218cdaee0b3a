// A rank on NCCL, over shared memory: the emulated library on the emulator, or the real one on a GPU.
#ifndef HOCKET_TEST_RUNTIME_COMM_CONFORMANCE_NCCLRANK_H
#define HOCKET_TEST_RUNTIME_COMM_CONFORMANCE_NCCLRANK_H

#include "runtime/Comm/Nccl/NcclWorld.h"
#include "runtime/Comm/NcclEmulator/NcclEmulator.h"
#include "runtime/Comm/Shm/ShmWorld.h"
#include <optional>
#include <random>

namespace hocket::test {

// What a rank works with. `library` is that of NCCL; without it, the emulated one.
struct NcclParts {
  std::unique_ptr<runtime::shm::ShmWorld> host;
  std::unique_ptr<runtime::Device> device;
  std::optional<runtime::nccl::Library> library;
  std::span<std::byte> memory; // of the device
  std::span<std::byte> mirror; // page-locked, of the same size; empty: the host works on the device's memory itself
};

// A collective without a stream is queued on one that is drawn, and done when the call returns; with a stream it is
// queued there, as NcclWorld does it. Messages without a stream are queued on one that is drawn. Where there is a
// mirror, it is the arena: what a call reads is copied to the device before it, what it writes back behind it, on its
// stream.
class NcclRank : public runtime::World {
public:
  NcclRank(NcclParts parts, uint64_t seed, size_t resident);

  int rank() const override { return parts.host->rank(); }
  int size() const override { return parts.host->size(); }
  std::span<std::byte> arena() override { return copies() ? parts.mirror : parts.memory; }
  runtime::Result<std::unique_ptr<runtime::Communicator>> communicator(const runtime::Group &group,
                                                                       runtime::Deadline deadline) override;
  runtime::Status waitForMessages(runtime::Deadline deadline) override { return world->waitForMessages(deadline); }
  void abort(std::string_view message) override { world->abort(message); }
  runtime::Status together(const std::function<runtime::Status()> &calls, runtime::Deadline deadline) override;

  bool copies() const { return !parts.mirror.empty(); }
  bool emulated() const { return !parts.library; }
  // The world in which ids are handed around.
  runtime::World &meeting() { return emulator ? static_cast<runtime::World &>(*emulator) : *parts.host; }
  runtime::Stream &draw() { return *streams[random() % streams.size()]; }
  // Everything queued.
  runtime::Status finish(double seconds);

  // Of a buffer in the arena: where it lies on the device; queues its copy there or back. Within a group what is
  // written comes back behind the group.
  void *onDevice(const void *buffer) const;
  runtime::Status fetch(void *stream, const void *buffer, size_t bytes);
  runtime::Status bringBack(void *stream, void *buffer, size_t bytes);

private:
  NcclParts parts;
  std::optional<runtime::nccl::NcclEmulator> emulator;
  std::vector<std::function<runtime::Status()>> behind; // the group that is open
  bool grouping = false;

public:
  std::vector<std::string> issued; // emulated: calls, in order: `dp: all_reduce sum of 4 f32`
  std::optional<runtime::nccl::NcclWorld> world;
  std::vector<std::unique_ptr<runtime::Stream>> streams;
  runtime::Device &device() { return *parts.device; }

private:
  std::mt19937_64 random;
};

// A stream by its handle.
struct StreamOf : runtime::Stream {
  explicit StreamOf(void *stream) : stream(stream) {}
  void *handle() const override { return stream; }
  void *stream;
};

} // namespace hocket::test
#endif
