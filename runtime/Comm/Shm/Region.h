// The one shared mapping of a run on one host. The launcher creates it as a memfd (it has no name, so nothing is left
// behind whoever dies); ranks inherit the descriptor over exec and map it. Layout, from offset 0:
//   header      magic, sizes, abort flag and text
//   statuses    one RankStatus per rank
//   groups      directory of all communicators, then their control blocks and bounce buffers (see Control.h)
//   arenas      one per rank, each aligned to 2 MiB, zero
// Memory is committed when touched.
#ifndef HOCKET_RUNTIME_COMM_SHM_REGION_H
#define HOCKET_RUNTIME_COMM_SHM_REGION_H

#include "runtime/Comm/Communicator.h"
#include "runtime/Comm/RankStatus.h"
#include <optional>

namespace hocket::runtime::shm {

struct Header;
struct GroupControl;

// Environment variable with the number of the region's file descriptor.
inline constexpr const char *descriptorVariable = "HOCKET_SHM_FD";

// What a region holds. groups[i].id == i.
struct RegionSpec {
  int worldSize = 0;
  std::vector<Group> groups;
  std::vector<size_t> arenaBytes; // per rank
};

// What ended a run early: a rank, or -1 for the launcher.
struct AbortReport {
  int rank;
  std::string message;
};

class Region {
public:
  // Bytes of the whole region, and of all but the arenas.
  static size_t sizeBytes(const RegionSpec &spec);
  static size_t controlBytes(const RegionSpec &spec);

  // Launcher: makes and maps the region. The descriptor survives exec; hand its number down in descriptorVariable.
  // Fails (Invalid) for a group with no, unknown or repeated ranks or a wrong id; (Lacking) when the system refuses.
  static Result<Region> create(const RegionSpec &spec);
  // Rank: maps the region whose descriptor the environment names, and closes the descriptor. Fails when there is none
  // or it is no region of this version.
  static Result<Region> attach();
  // Maps a region by its descriptor.
  static Result<Region> map(int descriptor);

  Region(Region &&other) noexcept;
  Region &operator=(Region &&other) noexcept;
  ~Region();

  int descriptor() const { return fd; } // -1 after attach
  int worldSize() const;
  RankStatus &status(int rank) const;
  std::span<std::byte> arena(int rank) const;

  // Members of a communicator that have called fewer of its collectives than the furthest member; empty when level.
  // world ranks.
  std::vector<int> behind(uint32_t group) const;

  // Ends every wait of every rank; the first call counts. rank -1: the launcher.
  void abort(int rank, std::string_view message) const;
  std::optional<AbortReport> aborted() const;

  // For the communicators.
  Header &header() const { return *reinterpret_cast<Header *>(base); }
  Result<GroupControl *> control(const Group &group) const;
  // The offset of memory that lies in the region as a whole.
  std::optional<uint64_t> offsetOf(const void *data, size_t bytes) const;
  std::byte *at(uint64_t offset) const { return base + offset; }

private:
  Region() = default;
  std::byte *base = nullptr;
  size_t bytes = 0;
  int fd = -1;
};

} // namespace hocket::runtime::shm
#endif
