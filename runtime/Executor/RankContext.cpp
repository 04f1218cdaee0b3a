// Setting up one rank; contracts in RankContext.h.
#include "runtime/Executor/RankContext.h"
#include "runtime/Executor/Groups.h"
#include "runtime/Executor/InstructionCalls.h"
#include <fmt/format.h>
#include <map>
#include <sys/mman.h>

namespace hocket::runtime {

static_assert(static_cast<int>(ElementType::F32) == static_cast<int>(program::DType::F32) &&
              static_cast<int>(ElementType::F64) == static_cast<int>(program::DType::F64) &&
              static_cast<int>(ElementType::BF16) == static_cast<int>(program::DType::BF16) &&
              static_cast<int>(ElementType::F16) == static_cast<int>(program::DType::F16) &&
              static_cast<int>(ElementType::I32) == static_cast<int>(program::DType::I32) &&
              static_cast<int>(ElementType::I64) == static_cast<int>(program::DType::I64));
static_assert(static_cast<int>(Reduction::Sum) == static_cast<int>(program::Reduction::Sum) &&
              static_cast<int>(Reduction::Max) == static_cast<int>(program::Reduction::Max) &&
              static_cast<int>(Reduction::Min) == static_cast<int>(program::Reduction::Min));

RankContext::RankContext(const program::Program &program, uint32_t rank, std::byte *arena, World &world, World &meeting,
                         RankStatus &status, Device &device)
    : program(program), mesh(program), rank(rank), own(*program.ranks()->Get(program::stageOf(mesh, program, rank))),
      arena(arena), world(world), meeting(meeting), status(status), device(device),
      memory(std::make_unique<DeviceMemory>(device)) {
  if (program.scalars())
    for (const program::RankScalar *scalar : *program.scalars())
      scalars.push_back(program::value(mesh, rank, *scalar));
}

Status RankContext::findKernels(std::span<const KernelEntry> table) {
  std::map<std::string_view, const void *> byName;
  for (const KernelEntry &entry : table)
    byName.emplace(entry.name, entry.function);
  std::string missing;
  for (uint32_t i = 0; program.kernels() && i < program.kernels()->size(); ++i) {
    std::string_view symbol = program.kernels()->Get(i)->symbol()->string_view();
    auto found = byName.find(symbol);
    if (found == byName.end())
      missing += fmt::format("{}{}", missing.empty() ? "" : ", ", symbol);
    kernels.push_back(found == byName.end() ? nullptr : found->second);
  }
  if (missing.empty())
    return {};
  return Error{ErrorKind::Invalid, fmt::format("the executable lacks kernels that its program names: {}", missing), {}};
}

Status RankContext::loadKernels() {
  for (uint32_t i = 0; program.kernels() && i < program.kernels()->size(); ++i) {
    const program::Kernel &kernel = *program.kernels()->Get(i);
    GpuKernel &loaded = gpuKernels.emplace_back();
    const program::GpuCode &gpu = *kernel.gpu();
    auto bytes = [](const auto &code) {
      return std::string_view(reinterpret_cast<const char *>(code.Data()), code.size());
    };
    KernelCode code{gpu.bitcode() ? bytes(*gpu.bitcode()) : "", gpu.ptx()->string_view(), {}};
    for (uint32_t c = 0; gpu.cubins() && c < gpu.cubins()->size(); ++c)
      code.cubins.emplace_back(gpu.cubins()->Get(c)->architecture(), bytes(*gpu.cubins()->Get(c)->code()));
    loaded.scratch = gpu.scratchBytes() != 0;
    for (const program::GpuLaunch *launch : *gpu.launches()) {
      const program::GpuShape &shape = *launch->shape();
      Result<const void *> function = device.kernel(device.loadable(code), launch->symbol()->string_view());
      if (!function)
        return std::move(function.error()).in(fmt::format("kernel {} of the program", kernel.symbol()->string_view()));
      loaded.launches.push_back({*function,
                                 {{shape.gridX(), shape.gridY(), shape.gridZ()},
                                  {shape.blockX(), shape.blockY(), shape.blockZ()},
                                  shape.sharedBytes()}});
    }
    status.heartbeat.fetch_add(1, std::memory_order_relaxed);
  }
  if (own.productsBytes())
    device.gemmWorkspace(arena + own.productsOffset(), own.productsBytes());
  return prepareProducts(*this);
}

Status RankContext::reserveHost() {
  size_t bytes = own.hostBytes();
  if (bytes == 0)
    return {};
  if (!device.hostMemory()) {
    Result<void *> made = device.allocateHost(bytes);
    if (!made)
      return std::move(made.error()).in("what is offloaded");
    host = static_cast<std::byte *>(*made);
    hostMemory = {host, [this](std::byte *memory) { device.freeHost(memory); }};
    return {};
  }
  void *memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED)
    return Error{ErrorKind::Lacking, fmt::format("no {} bytes of host memory for what is offloaded", bytes), {}};
  host = static_cast<std::byte *>(memory);
  hostMemory = {host, [bytes](std::byte *mapped) { ::munmap(mapped, bytes); }};
  return {};
}

Status RankContext::connect() {
  GroupTable table = groupsOf(mesh, program);
  communicators.resize(table.groupOf.size());
  for (size_t group = 0; group < table.groups.size(); ++group) {
    uint32_t index = table.communicatorOf[group];
    bool extra = index == GroupTable::none;
    if (!extra && table.groupOf[index][rank] != static_cast<int>(group))
      continue;
    Result<std::unique_ptr<Communicator>> made =
        (extra ? meeting : world).communicator(table.groups[group], deadlineIn(waitSeconds));
    if (!made)
      return std::move(made.error());
    if (calls && !extra)
      *made = calls->follow(std::move(*made));
    std::unique_ptr<Communicator> &place = extra ? ownEveryone : communicators[index];
    place = std::move(*made);
    if (group == table.everyone)
      everyone = place.get();
  }
  return {};
}

std::byte *RankContext::address(const program::Buffer &buffer, uint32_t microbatch, uint32_t slot) const {
  switch (buffer.space()) {
  case program::Space::Slot:
    return arena + own.slotsOffset() + slot * own.slotBytes() + buffer.offset();
  case program::Space::Microbatch:
    return arena + buffer.offset() + microbatch * buffer.bytes();
  case program::Space::Host:
    return host + buffer.offset();
  case program::Space::HostSlot:
    return host + own.hostSlotsOffset() + slot * own.hostSlotBytes() + buffer.offset();
  default:
    return arena + buffer.offset();
  }
}

} // namespace hocket::runtime
