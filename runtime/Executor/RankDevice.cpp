// See RankDevice.h.
#include "runtime/Executor/RankDevice.h"
#include "runtime/Comm/Nccl/NcclWorld.h"
#include "runtime/Comm/NcclEmulator/NcclEmulator.h"
#include "runtime/Device/BorrowedStream.h"
#include "runtime/Device/Cpu/CpuDevice.h"
#include "runtime/Device/Cuda/CudaDevice.h"
#include "runtime/Device/OpenEmulator.h"
#include "runtime/Executor/Variables.h"
#include <cstdlib>
#include <fmt/format.h>

namespace hocket::runtime {

bool isForGpus(const program::Program &program) { return program.target()->string_view() == "cuda"; }

static bool communicates(const program::Program &program) {
  return program.communicators() && program.communicators()->size() != 0;
}

Status checkGpus(const program::Program &program) {
  if (!isForGpus(program))
    return {};
  if (Result<cuda::Driver> driver = cuda::Driver::open(); !driver)
    return std::move(driver.error());
  if (Result<cuda::BlasLt> blas = cuda::BlasLt::open(); !blas)
    return std::move(blas.error());
  if (!communicates(program))
    return {};
  Result<nccl::Library> library = nccl::Library::open();
  return library ? Status() : std::move(library.error());
}

RankDevice::~RankDevice() {
  ownWorld.reset();
  emulated.reset();
  if (memory && opened && !opened->hostMemory())
    opened->free(memory);
}

Result<std::unique_ptr<RankDevice>> RankDevice::open(const program::Program &program, const program::RankProgram &own,
                                                     const RunOptions &options, World &meeting) {
  std::unique_ptr<RankDevice> result(new RankDevice());
  Status done =
      isForGpus(program) ? result->openGpu(program, own, options, meeting) : result->openCpu(program, own, meeting);
  if (!done)
    return std::move(done.error());
  return result;
}

Status RankDevice::openCpu(const program::Program &program, const program::RankProgram &own, World &meeting) {
  auto device = std::make_unique<CpuDevice>(static_cast<int>(program.threads()));
  threads = &device->pool();
  opened = std::move(device);
  memory = meeting.arena().data();
  reaching = &meeting;
  if (meeting.arena().size() >= own.arenaBytes())
    return {};
  return Error{
      ErrorKind::Invalid,
      fmt::format("the launcher gave {} bytes, the program needs {}", meeting.arena().size(), own.arenaBytes()),
      {}};
}

static bool emulatorChecks() {
  const char *wanted = std::getenv(emulatorCheckVariable);
  return !wanted || std::string_view(wanted) != "0";
}

// Every rank draws its own order.
static uint64_t seedOf(const RunOptions &options) {
  return *options.emulate * 1'000'003 + static_cast<uint64_t>(options.rank);
}

Status RankDevice::openGpu(const program::Program &program, const program::RankProgram &own, const RunOptions &options,
                           World &meeting) {
  ownThreads = std::make_unique<ThreadPool>(std::max(1, static_cast<int>(program.threads())));
  threads = ownThreads.get();
  if (options.emulate) {
    Result<std::unique_ptr<Device>> made = openEmulatorDevice(seedOf(options), emulatorChecks(), options.toolFolder);
    if (!made)
      return std::move(made.error());
    opened = std::move(*made);
  } else {
    Result<std::unique_ptr<cuda::CudaDevice>> made = cuda::CudaDevice::open(options.localRank);
    if (!made)
      return std::move(made.error());
    opened = std::move(*made);
  }
  Result<void *> arena = opened->allocate(own.arenaBytes());
  if (!arena)
    return std::move(arena.error()).in("the arena");
  memory = static_cast<std::byte *>(*arena);
  return openWorld(program, options, meeting, own.arenaBytes());
}

// A program that communicates with nobody needs no NCCL.
Status RankDevice::openWorld(const program::Program &program, const RunOptions &options, World &meeting,
                             size_t arenaBytes) {
  reaching = &meeting;
  if (!communicates(program))
    return {};
  std::span arena(memory, arenaBytes);
  if (options.emulate) {
    nccl::NcclEmulatorOptions emulator;
    emulator.seed = seedOf(options);
    emulator.capturing = [device = opened.get()](void *handle) {
      BorrowedStream stream(handle);
      return device->capturing(stream);
    };
    emulated = std::make_unique<nccl::NcclEmulator>(meeting, *opened, std::move(emulator));
    ownWorld = std::make_unique<nccl::NcclWorld>(*emulated, nccl::NcclEmulator::library(), *opened, arena);
  } else {
    Result<nccl::Library> library = nccl::Library::open();
    if (!library)
      return std::move(library.error());
    ownWorld = std::make_unique<nccl::NcclWorld>(meeting, *library, *opened, arena);
  }
  reaching = ownWorld.get();
  return {};
}

} // namespace hocket::runtime
