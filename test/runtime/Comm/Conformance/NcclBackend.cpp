// Ranks of the conformance suite over NCCL: the emulated one, and that of GPUs.
#include "Conformance/NcclRank.h"
#include "Conformance/ShmStart.h"
#include "runtime/Device/Cuda/CudaDevice.h"
#include "runtime/Device/OpenEmulator.h"
#include <fmt/format.h>

using namespace hocket::runtime;
namespace hocket::test {
namespace {

bool onGpus() {
  const char *device = std::getenv("HOCKET_TEST_DEVICE");
  return device && std::string_view(device) == "cuda";
}

// How many GPUs this machine has, or what it lacks.
Result<int> gpuCount() {
  Result<cuda::Driver> driver = cuda::Driver::open();
  if (!driver)
    return std::move(driver.error());
  if (Result<nccl::Library> library = nccl::Library::open(); !library)
    return std::move(library.error());
  int count = 0;
  if (Status asked = driver->check(driver->deviceGetCount(&count), "cuDeviceGetCount"); !asked)
    return std::move(asked.error());
  return count;
}

uint64_t number(const char *variable, uint64_t otherwise) {
  const char *text = std::getenv(variable);
  return text ? std::stoull(text) : otherwise;
}

// Rank number r on GPU number r: NCCL takes no two ranks of one.
Status openDevice(NcclParts &parts, bool real, uint64_t seed) {
  if (!real) {
    Result<std::unique_ptr<Device>> made = openEmulatorDevice(seed, false);
    if (!made)
      return std::move(made.error());
    parts.device = std::move(*made);
    return {};
  }
  Result<std::unique_ptr<cuda::CudaDevice>> made = cuda::CudaDevice::open(parts.host->rank());
  if (!made)
    return std::move(made.error());
  parts.device = std::move(*made);
  Result<nccl::Library> library = nccl::Library::open();
  if (!library)
    return std::move(library.error());
  parts.library = *library;
  return {};
}

Status takeMemory(NcclParts &parts, bool mirrored, size_t bytes) {
  Result<void *> made = parts.device->allocate(bytes);
  if (!made)
    return std::move(made.error());
  parts.memory = {static_cast<std::byte *>(*made), bytes};
  if (!mirrored)
    return {};
  Result<void *> mirror = parts.device->allocateHost(bytes);
  if (!mirror)
    return std::move(mirror.error());
  parts.mirror = {static_cast<std::byte *>(*mirror), bytes};
  return {};
}

class NcclBackend : public Backend {
public:
  explicit NcclBackend(const char *named) : named(named) {}
  std::string name() const override { return named; }
  bool mirrored() const { return name() == "gpu"; }

  std::string lacks(const std::string &scenario) const override {
    if (!mirrored() || !onGpus())
      return {};
    if (scenario == "rendezvous")
      return "NCCL completes a small send before it is received";
    int worldSize = scenarios().at(scenario).worldSize;
    Result<int> count = gpuCount();
    if (!count)
      return count.error().message;
    return *count < worldSize ? fmt::format("{} ranks need {} GPUs; this machine has {}", worldSize, worldSize, *count)
                              : "";
  }

  std::vector<Outcome> run(const std::string &scenario,
                           const std::function<void(const std::vector<int> &)> &meanwhile) override {
    setenv("HOCKET_TEST_BACKEND", named, 1);
    auto outcomes = runOverShm(scenario, meanwhile);
    unsetenv("HOCKET_TEST_BACKEND");
    return outcomes;
  }

  Result<std::unique_ptr<World>> join(int rank) override {
    NcclParts parts;
    Result<std::unique_ptr<shm::ShmWorld>> host = joinShm(rank);
    if (!host)
      return std::move(host.error());
    parts.host = std::move(*host);
    uint64_t seed = number("HOCKET_TEST_SEED", 0) * 64 + static_cast<uint64_t>(rank);
    if (Status opened = openDevice(parts, mirrored() && onGpus(), seed); !opened)
      return std::move(opened.error());
    size_t bytes = scenarios().at(std::getenv("HOCKET_TEST_SCENARIO")).arenaBytes;
    if (Status taken = takeMemory(parts, mirrored(), bytes); !taken)
      return std::move(taken.error());
    return std::unique_ptr<World>(
        std::make_unique<NcclRank>(std::move(parts), seed, number("HOCKET_TEST_RESIDENT", SIZE_MAX)));
  }

private:
  const char *named;
};

} // namespace

Backend &ncclBackend() {
  static NcclBackend backend("nccl");
  return backend;
}
Backend &gpuBackend() {
  static NcclBackend backend("gpu");
  return backend;
}

} // namespace hocket::test
