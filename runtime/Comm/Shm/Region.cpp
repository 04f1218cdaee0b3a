// See Region.h.
#include "runtime/Comm/Shm/Region.h"
#include "runtime/Comm/Shm/Control.h"
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <set>
#include <sys/mman.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>
#include <utility>

namespace hocket::runtime::shm {
namespace {

constexpr size_t arenaAlignment = 2 << 20; // a huge page

size_t alignTo(size_t value, size_t alignment) { return (value + alignment - 1) / alignment * alignment; }

// Offsets of everything, in the order in which Header names it.
struct Layout {
  size_t statuses, directory, arenaTable;
  std::vector<size_t> controls, rankLists, arenas;
  size_t controlBytes, bytes;

  explicit Layout(const RegionSpec &spec) {
    size_t next = alignTo(sizeof(Header), 64);
    auto place = [&](size_t bytes, size_t alignment = 64) {
      size_t at = alignTo(next, alignment);
      next = at + bytes;
      return at;
    };
    statuses = place(sizeof(RankStatus) * spec.worldSize);
    directory = place(sizeof(GroupEntry) * spec.groups.size());
    arenaTable = place(sizeof(ArenaEntry) * spec.worldSize);
    for (const Group &group : spec.groups)
      rankLists.push_back(place(sizeof(int32_t) * group.ranks.size(), alignof(int32_t)));
    for (const Group &group : spec.groups)
      controls.push_back(place(GroupControl::sizeBytes(group.ranks.size())));
    controlBytes = alignTo(next, arenaAlignment);
    next = controlBytes;
    for (size_t bytes : spec.arenaBytes)
      arenas.push_back(place(bytes, arenaAlignment));
    bytes = alignTo(next, arenaAlignment);
  }
};

std::optional<Error> faultOf(const RegionSpec &spec) {
  if (spec.worldSize < 1)
    return invalid(fmt::format("a world of {} ranks; at least 1 is needed", spec.worldSize));
  if (spec.arenaBytes.size() != static_cast<size_t>(spec.worldSize))
    return invalid(fmt::format("{} arenas for {} ranks", spec.arenaBytes.size(), spec.worldSize));
  for (size_t id = 0; id < spec.groups.size(); ++id) {
    const Group &group = spec.groups[id];
    std::string what = fmt::format("communicator {} \"{}\"", group.id, group.name);
    if (group.id != id)
      return invalid(fmt::format("{} stands at position {} of the list", what, id));
    if (group.ranks.empty())
      return invalid(what + " has no members");
    for (int rank : group.ranks)
      if (rank < 0 || rank >= spec.worldSize)
        return invalid(fmt::format("{} has a member {}; ranks are 0 to {}", what, rank, spec.worldSize - 1));
    if (std::set<int>(group.ranks.begin(), group.ranks.end()).size() != group.ranks.size())
      return invalid(what + " has a member twice");
  }
  return std::nullopt;
}

Error refused(std::string_view what) {
  return {ErrorKind::Lacking, fmt::format("{}: {}", what, std::strerror(errno)), {}};
}

void writeHeader(std::byte *base, const RegionSpec &spec, const Layout &layout) {
  auto &header = *reinterpret_cast<Header *>(base);
  header.version = layoutVersion;
  header.worldSize = static_cast<uint32_t>(spec.worldSize);
  header.groupCount = static_cast<uint32_t>(spec.groups.size());
  header.bytes = layout.bytes;
  header.statuses = layout.statuses;
  header.directory = layout.directory;
  header.arenas = layout.arenaTable;
  for (int rank = 0; rank < spec.worldSize; ++rank) {
    new (base + layout.statuses + sizeof(RankStatus) * rank) RankStatus();
    reinterpret_cast<ArenaEntry *>(base + layout.arenaTable)[rank] = {layout.arenas[rank], spec.arenaBytes[rank]};
  }
  for (size_t id = 0; id < spec.groups.size(); ++id) {
    const std::vector<int> &ranks = spec.groups[id].ranks;
    auto size = static_cast<uint32_t>(ranks.size());
    reinterpret_cast<GroupEntry *>(base + layout.directory)[id] = {layout.controls[id], layout.rankLists[id], size};
    std::copy(ranks.begin(), ranks.end(), reinterpret_cast<int32_t *>(base + layout.rankLists[id]));
    auto &control = *reinterpret_cast<GroupControl *>(base + layout.controls[id]);
    control.size = size;
    control.bounceBytes = static_cast<uint32_t>(GroupControl::bounceBytesFor(size));
  }
  header.magic = magic;
}

} // namespace

size_t Region::sizeBytes(const RegionSpec &spec) { return Layout(spec).bytes; }
size_t Region::controlBytes(const RegionSpec &spec) { return Layout(spec).controlBytes; }

Result<Region> Region::create(const RegionSpec &spec) {
  if (auto fault = faultOf(spec))
    return std::move(*fault);
  Layout layout(spec);
  Region region;
  region.fd = memfd_create("hocket", MFD_ALLOW_SEALING);
  if (region.fd < 0)
    return refused("cannot create shared memory");
  if (ftruncate(region.fd, static_cast<off_t>(layout.bytes)) != 0)
    return refused(fmt::format("cannot size shared memory to {} bytes", layout.bytes));
  fcntl(region.fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW);
  void *memory = mmap(nullptr, layout.bytes, PROT_READ | PROT_WRITE, MAP_SHARED, region.fd, 0);
  if (memory == MAP_FAILED)
    return refused(fmt::format("cannot map {} bytes of shared memory", layout.bytes));
  region.base = static_cast<std::byte *>(memory);
  region.bytes = layout.bytes;
  writeHeader(region.base, spec, layout);
  return region;
}

Result<Region> Region::attach() {
  const char *text = std::getenv(descriptorVariable);
  if (!text)
    return Error{
        ErrorKind::Invalid, fmt::format("{} is not set; ranks are started by hocket-run", descriptorVariable), {}};
  int descriptor = -1;
  auto [end, fault] = std::from_chars(text, text + std::strlen(text), descriptor);
  if (fault != std::errc() || *end != 0)
    return Error{ErrorKind::Invalid, fmt::format("{} is \"{}\", not a file descriptor", descriptorVariable, text), {}};
  Result<Region> region = map(descriptor);
  if (region) {
    close(descriptor);
    region->fd = -1;
  }
  return region;
}

Result<Region> Region::map(int descriptor) {
  auto foreign = [&](std::string why) {
    return Error{ErrorKind::Invalid, fmt::format("descriptor {} is no shared region: {}", descriptor, why), {}};
  };
  struct stat file;
  if (fstat(descriptor, &file) != 0)
    return foreign(std::strerror(errno));
  if (static_cast<size_t>(file.st_size) < sizeof(Header))
    return foreign(fmt::format("it has {} bytes", file.st_size));
  Region region;
  region.bytes = static_cast<size_t>(file.st_size);
  void *memory = mmap(nullptr, region.bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  if (memory == MAP_FAILED)
    return refused(fmt::format("cannot map {} bytes of shared memory", region.bytes));
  region.base = static_cast<std::byte *>(memory);
  const Header &header = region.header();
  if (header.magic != magic)
    return foreign("its first bytes are not those of a region");
  if (header.version != layoutVersion)
    return foreign(fmt::format("its layout has version {}, this program's {}", header.version, layoutVersion));
  if (header.bytes != region.bytes)
    return foreign(fmt::format("it has {} bytes, its header says {}", region.bytes, header.bytes));
  region.fd = descriptor;
  return region;
}

Region::Region(Region &&other) noexcept { *this = std::move(other); }
Region &Region::operator=(Region &&other) noexcept {
  std::swap(base, other.base);
  std::swap(bytes, other.bytes);
  std::swap(fd, other.fd);
  return *this;
}
Region::~Region() {
  if (base)
    munmap(base, bytes);
  if (fd >= 0)
    close(fd);
}

int Region::worldSize() const { return static_cast<int>(header().worldSize); }

RankStatus &Region::status(int rank) const { return reinterpret_cast<RankStatus *>(base + header().statuses)[rank]; }

std::span<std::byte> Region::arena(int rank) const {
  const ArenaEntry &entry = reinterpret_cast<const ArenaEntry *>(base + header().arenas)[rank];
  return {base + entry.offset, entry.bytes};
}

Result<GroupControl *> Region::control(const Group &group) const {
  auto invalid = [&](std::string why) {
    return Error{ErrorKind::Invalid, fmt::format("communicator {} \"{}\" {}", group.id, group.name, why), {}};
  };
  if (group.id >= header().groupCount)
    return invalid(fmt::format("is unknown to the launcher; it has made {}", header().groupCount));
  const GroupEntry &entry = reinterpret_cast<const GroupEntry *>(base + header().directory)[group.id];
  auto *ranks = reinterpret_cast<const int32_t *>(base + entry.ranks);
  if (!std::equal(group.ranks.begin(), group.ranks.end(), ranks, ranks + entry.size))
    return invalid("has other members here than in the launcher");
  return reinterpret_cast<GroupControl *>(base + entry.control);
}

std::optional<uint64_t> Region::offsetOf(const void *data, size_t size) const {
  auto address = reinterpret_cast<uintptr_t>(data), start = reinterpret_cast<uintptr_t>(base);
  if (address < start || address - start > bytes || size > bytes - (address - start))
    return std::nullopt;
  return address - start;
}

std::vector<int> Region::behind(uint32_t group) const {
  const GroupEntry &entry = reinterpret_cast<const GroupEntry *>(base + header().directory)[group];
  auto &control = *reinterpret_cast<GroupControl *>(base + entry.control);
  auto *ranks = reinterpret_cast<const int32_t *>(base + entry.ranks);
  std::vector<uint32_t> arrivals;
  for (uint32_t i = 0; i < entry.size; ++i)
    arrivals.push_back(control.member(i).arrivals.load(std::memory_order_acquire));
  // Counters wrap: members are at most one barrier apart, so the sign of a difference tells who is ahead.
  auto ahead = [](uint32_t a, uint32_t b) { return static_cast<int32_t>(a - b) > 0; };
  uint32_t furthest = arrivals[0];
  for (uint32_t count : arrivals)
    furthest = ahead(count, furthest) ? count : furthest;
  std::vector<int> missing;
  for (uint32_t i = 0; i < entry.size; ++i)
    if (ahead(furthest, arrivals[i]))
      missing.push_back(ranks[i]);
  return missing;
}

void Region::abort(int rank, std::string_view message) const {
  Header &h = header();
  uint32_t none = 0;
  if (!h.aborted.compare_exchange_strong(none, 1)) {
    // A rank that dies while it writes must not keep the launcher's word from the others.
    for (int i = 0; rank == -1 && i < 50 && h.aborted.load() == 1; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    if (rank != -1 || h.aborted.load() == 2)
      return;
  }
  size_t size = std::min(message.size(), sizeof(h.abortText));
  std::memcpy(h.abortText, message.data(), size);
  h.abortBytes = static_cast<uint32_t>(size);
  h.abortRank = rank;
  h.aborted.store(2, std::memory_order_release);
}

std::optional<AbortReport> Region::aborted() const {
  const Header &h = header();
  if (h.aborted.load(std::memory_order_acquire) != 2)
    return std::nullopt;
  return AbortReport{h.abortRank, std::string(h.abortText, std::min<size_t>(h.abortBytes, sizeof(h.abortText)))};
}

} // namespace hocket::runtime::shm
