// See Place.h.
#include "runtime/Comm/Tcp/Place.h"
#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace hocket::runtime::tcp {

namespace {
// Reads variables, and collects what is wrong with them.
class Reader {
public:
  explicit Reader(const Environment &environment) : environment(environment) {}

  // The first variable of the list that is set.
  std::optional<int> number(std::initializer_list<const char *> names, int least, int most) {
    for (const char *name : names)
      if (std::optional<std::string> text = environment(name)) {
        int value = 0;
        auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), value);
        if (error == std::errc() && end == text->data() + text->size() && value >= least && value <= most)
          return value;
        faults.push_back(fmt::format("{} is '{}'; a whole number from {} to {} is needed", name, *text, least, most));
        return {};
      }
    return {};
  }
  int needed(std::initializer_list<const char *> names, int least, int most) {
    size_t before = faults.size();
    std::optional<int> value = number(names, least, most);
    if (!value && faults.size() == before)
      faults.push_back(fmt::format("{} is not set", fmt::join(names, " or ")));
    return value.value_or(least);
  }
  // The one that number() reads.
  const char *taken(std::initializer_list<const char *> names) const {
    return *std::find_if(names.begin(), names.end() - 1, [&](const char *name) { return isSet(name); });
  }
  bool isSet(const char *name) const { return environment(name).has_value(); }
  std::string text(std::initializer_list<const char *> names) const {
    for (const char *name : names)
      if (std::optional<std::string> found = environment(name); found && !found->empty())
        return *found;
    return {};
  }

  const Environment &environment;
  std::vector<std::string> faults;
};

constexpr int mostRanks = 1 << 20, mostPort = 65535;

int portOf(Reader &reader) {
  if (std::optional<int> own = reader.number({"HOCKET_PORT"}, 1, mostPort))
    return *own;
  bool torchListens = reader.text({"TORCHELASTIC_USE_AGENT_STORE"}) == "True";
  if (reader.isSet("MASTER_PORT") || !reader.isSet("SLURM_JOB_ID"))
    return reader.needed({"MASTER_PORT"}, 1, mostPort - torchListens) + torchListens;
  return 15000 + reader.needed({"SLURM_JOB_ID"}, 0, INT32_MAX) % 10000;
}
} // namespace

Environment ownEnvironment() {
  return [](const char *name) -> std::optional<std::string> {
    const char *value = std::getenv(name);
    return value ? std::optional<std::string>(value) : std::nullopt;
  };
}

bool startedOverTcp(const Environment &environment) {
  bool rank = environment("RANK").has_value(), size = environment("WORLD_SIZE").has_value();
  return (rank && size) || ((rank || size) && environment("MASTER_ADDR")) || environment("SLURM_PROCID");
}

std::string firstHost(std::string_view list) {
  std::string name;
  bool inside = false, taken = false; // of brackets; the first number of them
  for (char c : list) {
    if (c == ',' && !inside)
      break;
    if (c == '[' || c == ']') {
      inside = c == '[';
      taken = false;
    } else if (inside && (c == '-' || c == ','))
      taken = true;
    else if (!inside || !taken)
      name += c;
  }
  return name;
}

Result<Place> placeOf(const Environment &environment) {
  static constexpr std::initializer_list<const char *> sizeNames = {"WORLD_SIZE", "SLURM_STEP_NUM_TASKS",
                                                                    "SLURM_NTASKS"},
                                                       rankNames = {"RANK", "SLURM_PROCID"};
  Reader reader(environment);
  Place place;
  place.size = reader.needed(sizeNames, 1, mostRanks);
  place.rank = reader.needed(rankNames, 0, mostRanks - 1);
  place.localRank = reader.number({"LOCAL_RANK", "SLURM_LOCALID"}, 0, mostRanks - 1);
  place.port = portOf(reader);
  place.host = reader.text({"MASTER_ADDR"});
  if (place.host.empty())
    place.host = firstHost(reader.text({"SLURM_STEP_NODELIST", "SLURM_JOB_NODELIST", "SLURM_NODELIST"}));
  if (place.host.empty())
    reader.faults.push_back("MASTER_ADDR is not set");
  place.startSeconds = reader.number({"HOCKET_START_SECONDS"}, 1, 1 << 20).value_or(120);
  if (reader.faults.empty() && place.rank >= place.size)
    reader.faults.push_back(fmt::format("{} is {} and {} is {}; ranks are 0 to {}", reader.taken(rankNames), place.rank,
                                        reader.taken(sizeNames), place.size, place.size - 1));
  place.job = fmt::format("{}/{}.{}", reader.text({"TORCHELASTIC_RUN_ID"}), reader.text({"SLURM_JOB_ID"}),
                          reader.text({"SLURM_STEP_ID"}));
  if (reader.faults.empty())
    return place;
  return Error{ErrorKind::Invalid, fmt::format("{}", fmt::join(reader.faults, "; ")), {}};
}

} // namespace hocket::runtime::tcp
