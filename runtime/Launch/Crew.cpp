// See Crew.h.
#include "runtime/Launch/Crew.h"
#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <fstream>
#include <set>
#include <unistd.h>

namespace hocket::run {

using runtime::deadlineIn;
using runtime::ElementType;
using runtime::Error;
using runtime::ErrorKind;
using runtime::Result;
using runtime::Status;

namespace {
// Records travel as they lie in memory; text is cut and ends with zeros.
struct Place {
  char host[256], machine[64];
};
struct Verdict {
  uint64_t status;
  char text[2000];
};

template <size_t size> void put(char (&to)[size], std::string_view text) {
  std::memset(to, 0, size);
  std::memcpy(to, text.data(), std::min(text.size(), size - 1));
}
} // namespace

template <class Record> Result<std::vector<Record>> Crew::exchange(const Record &mine) {
  static_assert(sizeof(Record) % sizeof(int64_t) == 0);
  std::vector<Record> all(static_cast<size_t>(everyone->size()));
  if (Status gathered = everyone->allGather(&mine, all.data(), sizeof(Record) / sizeof(int64_t), ElementType::I64,
                                            deadlineIn(seconds));
      !gathered)
    return std::move(gathered.error()).in("at the start of the run");
  return all;
}

Result<Crew> Crew::gather(runtime::HostsWorld &world, double seconds) {
  Result<std::unique_ptr<runtime::Communicator>> everyone = world.everyone();
  if (!everyone)
    return std::move(everyone.error());
  Crew crew(std::move(*everyone), world.rank(), seconds);
  Place mine{};
  ::gethostname(mine.host, sizeof mine.host - 1);
  std::string boot;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> boot;
  put(mine.machine, boot);
  Result<std::vector<Place>> all = crew.exchange(mine);
  if (!all)
    return std::move(all.error());
  for (const Place &place : *all) {
    crew.names.push_back(place.host);
    crew.machines.push_back(place.machine);
  }
  return crew;
}

bool Crew::onOneHost() const { return std::set(names.begin(), names.end()).size() == 1; }

std::vector<int> Crew::here() const {
  std::vector<int> result;
  for (size_t rank = 0; rank < machines.size(); ++rank)
    if (machines[rank] == machines[static_cast<size_t>(self)])
      result.push_back(static_cast<int>(rank));
  return result;
}

Status Crew::same(std::string_view what, uint64_t mine) {
  Result<std::vector<uint64_t>> all = exchange(mine);
  if (!all)
    return std::move(all.error());
  for (size_t rank = 1; rank < all->size(); ++rank)
    if ((*all)[rank] != (*all)[0])
      return Error{ErrorKind::Invalid,
                   fmt::format("{} of rank {} on host {} (checksum {:016x}) is not that of rank 0 on host {} (checksum "
                               "{:016x}); all ranks need the same",
                               what, rank, names[rank], (*all)[rank], names[0], (*all)[0]),
                   {0, static_cast<int>(rank)}};
  return {};
}

Result<Exit> Crew::compare(const Finding &mine) {
  Verdict verdict{static_cast<uint64_t>(mine.status), {}};
  put(verdict.text, mine.text);
  Result<std::vector<Verdict>> all = exchange(verdict);
  if (!all)
    return std::move(all.error());
  Exit first = Done;
  std::set<std::string> said;
  for (size_t rank = 0; rank < all->size(); ++rank) {
    const Verdict &found = (*all)[rank];
    if (found.status == Done)
      continue;
    first = first == Done ? static_cast<Exit>(found.status) : first;
    std::string text = onOneHost() ? found.text : fmt::format("on host {}: {}", names[rank], found.text);
    if (self == 0 && said.insert(text).second)
      fmt::print(stderr, "error: {}\n", text);
  }
  return first;
}

Result<std::string> Crew::tell(std::string text) {
  auto size = static_cast<int64_t>(text.size());
  if (Status told = everyone->broadcast(&size, 1, ElementType::I64, 0, deadlineIn(seconds)); !told)
    return std::move(told.error());
  std::vector<int64_t> words(static_cast<size_t>(size + 7) / 8);
  if (self == 0)
    std::memcpy(words.data(), text.data(), text.size());
  if (Status told = everyone->broadcast(words.data(), words.size(), ElementType::I64, 0, deadlineIn(seconds)); !told)
    return std::move(told.error());
  return std::string(reinterpret_cast<const char *>(words.data()), static_cast<size_t>(size));
}

Result<uint64_t> Crew::sum(uint64_t mine) {
  Result<std::vector<uint64_t>> all = exchange(mine);
  if (!all)
    return std::move(all.error());
  uint64_t result = 0;
  for (uint64_t number : *all)
    result += number;
  return result;
}

} // namespace hocket::run
