// Launches.
#include "runtime/Device/Emulator/Emulator.h"
#include "runtime/Device/Emulator/Block.h"
#include "runtime/Device/Emulator/Load.h"
#include <fmt/format.h>
#include <unordered_map>

namespace hocket::runtime::emulator {

// The most that a block may have on any GPU from sm_80 to sm_100 (227 KiB).
static constexpr uint32_t mostShared = 227 << 10;

struct Emulator::State {
  Options options;
  std::unordered_map<std::string, std::unique_ptr<LoadedModule>> modules; // by bitcode
  Regions regions;
  Checker checker;
  Stacks stacks;
  std::unique_ptr<std::byte[]> shared;
  std::vector<Fault> faults;
  Counts counts;

  explicit State(Options given)
      : options(std::move(given)), checker(regions, options.uninitialised),
        shared(std::make_unique<std::byte[]>(mostShared + sharedMargin + 128)) {}
};

Emulator::Emulator(Options options) : state(std::make_unique<State>(std::move(options))) {}
Emulator::~Emulator() = default;

Result<const KernelModule *> Emulator::load(std::string_view bitcode) {
  std::string key(bitcode);
  if (auto known = state->modules.find(key); known != state->modules.end())
    return static_cast<const KernelModule *>(known->second.get());
  Result<std::unique_ptr<LoadedModule>> loaded = loadModule(bitcode, state->options);
  if (!loaded)
    return std::move(loaded.error());
  return static_cast<const KernelModule *>((state->modules[std::move(key)] = std::move(*loaded)).get());
}

void Emulator::addRegion(const void *begin, size_t bytes, std::string name) {
  state->regions[reinterpret_cast<uintptr_t>(begin)] = {bytes, std::move(name)};
}
void Emulator::removeRegion(const void *begin) { state->regions.erase(reinterpret_cast<uintptr_t>(begin)); }

const std::vector<Fault> &Emulator::faults() const { return state->faults; }
const Counts &Emulator::counts() const { return state->counts; }
std::vector<Touch> Emulator::touched() const {
  return state->options.check ? state->checker.touched() : std::vector<Touch>();
}

// What cuLaunchKernel would refuse.
static Status checkLaunch(const Kernel &kernel, Extent grid, Extent block, uint64_t sharedBytes, size_t arguments) {
  auto refuse = [&](std::string text) {
    return Error{ErrorKind::Invalid, fmt::format("kernel \"{}\": {}", kernel.name, text), {}};
  };
  if (kernel.argumentBytes.size() != arguments)
    return refuse(fmt::format("takes {} arguments, {} are given", kernel.argumentBytes.size(), arguments));
  if (!block.count() || block.count() > 1024 || block.z > 64)
    return refuse(fmt::format("block of {} threads, 1 to 1024 are allowed, 64 along z", toString(block)));
  if (!grid.count() || grid.y > 65535 || grid.z > 65535 || grid.count() >= 1 << 24)
    return refuse(
        fmt::format("grid of {} blocks, 1 to {} are emulated, 65535 along y and z", toString(grid), (1 << 24) - 1));
  if (sharedBytes > mostShared)
    return refuse(fmt::format("{} bytes of shared memory, {} is the most", sharedBytes, mostShared));
  return {};
}

Status Emulator::launch(const KernelModule &module, std::string_view name, Extent grid, Extent block,
                        uint32_t dynamicBytes, std::span<const void *const> arguments) {
  const auto &loaded = static_cast<const LoadedModule &>(module);
  size_t number = 0;
  while (number < loaded.known.size() && loaded.known[number].name != name)
    ++number;
  if (number == loaded.known.size())
    return Error{ErrorKind::Invalid, fmt::format("no kernel \"{}\"", name), {}};
  uint64_t sharedBytes = uint64_t(loaded.staticBytes) + dynamicBytes;
  if (Status sound = checkLaunch(loaded.known[number], grid, block, sharedBytes, arguments.size()); !sound)
    return sound;
  if (!state->stacks.grow(block.count()))
    return Error{ErrorKind::Lacking, fmt::format("no memory for the stacks of {} threads", block.count()), {}};
  auto *shared =
      reinterpret_cast<std::byte *>((reinterpret_cast<uintptr_t>(state->shared.get()) + 127) & ~uintptr_t(127));
  Checker *checker = state->options.check ? &state->checker : nullptr;
  if (checker)
    checker->beginLaunch(static_cast<uint32_t>((block.count() + 31) / 32), sharedBytes);
  Block running({name, loaded.entries[number], arguments.data(), grid, block, shared, loaded.staticBytes, dynamicBytes,
                 &loaded.sites},
                state->stacks, checker, state->counts);
  bool sound = true;
  for (uint32_t z = 0; z < grid.z && sound; ++z)
    for (uint32_t y = 0; y < grid.y && sound; ++y)
      for (uint32_t x = 0; x < grid.x && sound; ++x) {
        std::memset(shared, 0xFF, sharedBytes); // NaN in every type
        sound = running.run({x, y, z});
      }
  state->faults = running.takeFaults();
  if (state->faults.empty())
    return {};
  return Error{ErrorKind::Invalid, listed(state->faults), {}};
}

} // namespace hocket::runtime::emulator
