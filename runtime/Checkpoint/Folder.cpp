// Folders of checkpoints; contracts in Folder.h.
#include "runtime/Checkpoint/Folder.h"
#include "runtime/Checkpoint/Shard.h"
#include <algorithm>
#include <cerrno>
#include <charconv>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

namespace hocket::checkpoint {

using runtime::Error;
using runtime::ErrorKind;
using runtime::Result;
using runtime::Status;

static constexpr std::string_view prefix = "step-", partial = ".tmp", replaced = ".old";

std::string stepFolder(const std::string &folder, uint64_t step) {
  return fmt::format("{}/{}{}", folder, prefix, step);
}
bool liesInCheckpoint(const std::string &path) {
  std::error_code error;
  std::filesystem::path whole = std::filesystem::weakly_canonical(path, error);
  for (std::filesystem::path at = whole; at.has_relative_path(); at = at.parent_path())
    if (at.filename().string().starts_with(prefix) && std::filesystem::exists(at / indexName, error))
      return true;
  return false;
}

std::string partialFolder(const std::string &folder, uint64_t step) { return stepFolder(folder, step) + ".tmp"; }

/// The step that a name of the form "step-40" has; nothing of other names.
static std::optional<uint64_t> stepOf(std::string_view name) {
  if (!name.starts_with(prefix))
    return {};
  name.remove_prefix(prefix.size());
  uint64_t step = 0;
  auto [end, fault] = std::from_chars(name.data(), name.data() + name.size(), step);
  bool whole = fault == std::errc() && end == name.data() + name.size() && fmt::format("{}", step) == name;
  return whole ? std::optional(step) : std::nullopt;
}

static Result<std::vector<std::string>> namesIn(const std::string &folder) {
  std::error_code error;
  std::vector<std::string> names;
  for (std::filesystem::directory_iterator at(folder, error), end; !error && at != end; at.increment(error))
    names.push_back(at->path().filename());
  if (error)
    return systemError(fmt::format("cannot read folder '{}'", folder), error.value());
  return names;
}

/// Whether a name is one that this file gives to what is not whole.
static bool isPartial(std::string_view name) {
  if (!name.ends_with(partial))
    return false;
  name.remove_suffix(partial.size());
  if (name.ends_with(replaced))
    name.remove_suffix(replaced.size());
  return stepOf(name).has_value();
}

Result<std::vector<uint64_t>> stepsIn(const std::string &folder) {
  Result<std::vector<std::string>> names = namesIn(folder);
  if (!names)
    return std::move(names.error());
  std::vector<uint64_t> steps;
  for (const std::string &name : *names)
    if (std::optional<uint64_t> step = stepOf(name))
      steps.push_back(*step);
  std::sort(steps.rbegin(), steps.rend());
  return steps;
}

Found openCheckpoint(const std::string &folder) {
  constexpr uint64_t mostIndexBytes = uint64_t(1) << 30;
  Found result{folder, {}, {}};
  std::string path = folder + "/" + indexName;
  Result<std::string> text = readText(path, mostIndexBytes);
  if (!text) {
    result.faults.push_back(text.error().message);
    return result;
  }
  ParsedIndex parsed = parseIndex(*text);
  for (const std::string &fault : parsed.faults)
    result.faults.push_back(fmt::format("'{}': {}", path, fault));
  if (!result.faults.empty())
    return result;
  result.index = std::move(parsed.index);
  for (uint32_t file = 0; file < result.index.files.size(); ++file)
    for (std::string &fault : shardFaults(folder, result.index, file, /*content=*/false, {}))
      result.faults.push_back(std::move(fault));
  return result;
}

Result<std::vector<Found>> candidates(const std::string &path) {
  std::vector<Found> result;
  if (fileBytes(path + "/" + indexName)) {
    result.push_back(openCheckpoint(path));
    return result;
  }
  Result<std::vector<uint64_t>> steps = stepsIn(path);
  if (!steps)
    return std::move(steps.error());
  for (uint64_t step : *steps)
    result.push_back(openCheckpoint(stepFolder(path, step)));
  return result;
}

Status cleanPartial(const std::string &folder) {
  Result<std::vector<std::string>> names = namesIn(folder);
  if (!names)
    return std::move(names.error());
  for (std::string_view name : *names)
    if (isPartial(name))
      if (Status removed = removeFolder(fmt::format("{}/{}", folder, name)); !removed)
        return removed;
  return {};
}

Status beginPartial(const std::string &folder, uint64_t step) {
  if (Status removed = removeFolder(partialFolder(folder, step)); !removed)
    return removed;
  return makeFolder(partialFolder(folder, step));
}

/// Out of the way under one rename, so that nobody ever sees half of it.
static Status removeCheckpoint(const std::string &folder, uint64_t step) {
  std::string aside = partialFolder(folder, step);
  if (Status removed = removeFolder(aside); !removed)
    return removed;
  if (Status renamed = renameFolder(stepFolder(folder, step), aside); !renamed)
    return renamed;
  return removeFolder(aside);
}

static Status writeIndex(const std::string &folder, const Index &index) {
  std::string text = indexText(index);
  Result<NewFile> file = NewFile::create(folder + "/" + indexName, text.size(), {});
  if (!file)
    return std::move(file.error());
  if (Status wrote = file->write({reinterpret_cast<const uint8_t *>(text.data()), text.size()}); !wrote)
    return wrote;
  return file->finish();
}

static std::string replacedFolder(const std::string &folder, uint64_t step) {
  return fmt::format("{}{}{}", stepFolder(folder, step), replaced, partial);
}

/// A checkpoint of the same step that stands in the way (a damaged one, from which nothing could be resumed).
static Status stepAside(const std::string &folder, uint64_t step) {
  std::error_code error;
  if (!std::filesystem::exists(stepFolder(folder, step), error))
    return {};
  if (Status removed = removeFolder(replacedFolder(folder, step)); !removed)
    return removed;
  return renameFolder(stepFolder(folder, step), replacedFolder(folder, step));
}

Status commit(const std::string &folder, const Index &index, uint32_t keep) {
  std::string from = partialFolder(folder, index.step), to = stepFolder(folder, index.step);
  if (Status wrote = writeIndex(from, index); !wrote)
    return wrote;
  if (Status synced = syncFolder(from); !synced)
    return synced;
  if (Status aside = stepAside(folder, index.step); !aside)
    return aside;
  if (Status renamed = renameFolder(from, to); !renamed)
    return renamed;
  if (Status synced = syncFolder(folder); !synced)
    return synced;
  if (Status removed = removeFolder(replacedFolder(folder, index.step)); !removed)
    return removed;
  Result<std::vector<uint64_t>> steps = stepsIn(folder);
  if (!steps)
    return std::move(steps.error());
  std::erase_if(*steps, [&](uint64_t step) { return step > index.step; });
  for (size_t i = keep; i < steps->size(); ++i)
    if (Status removed = removeCheckpoint(folder, (*steps)[i]); !removed)
      return removed;
  return {};
}

// ---- before a run ---------------------------------------------------------------------------------------------------
Result<FolderLock> FolderLock::take(const std::string &folder) {
  int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0)
    return systemError(fmt::format("cannot open folder '{}'", folder), errno);
  if (::flock(descriptor, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) // some file systems have no locks
    return FolderLock(descriptor);
  ::close(descriptor);
  return Error{ErrorKind::Invalid, fmt::format("another run saves into '{}'", folder), {}};
}

FolderLock::~FolderLock() {
  if (descriptor >= 0)
    ::close(descriptor);
}

Status makeFolders(const std::string &folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error)
    return systemError(fmt::format("cannot make folder '{}'", folder), error.value());
  return {};
}

Status prepareFolder(const std::string &folder, uint64_t bytes) {
  if (Status cleaned = cleanPartial(folder); !cleaned)
    return cleaned;
  std::string probe = folder + "/step-0.tmp";
  if (Status made = makeFolder(probe); !made)
    return std::move(made.error()).in(fmt::format("nothing can be saved into '{}'", folder));
  if (Status removed = removeFolder(probe); !removed)
    return removed;
  std::optional<uint64_t> available = freeBytes(folder);
  if (available && *available < bytes)
    return Error{
        ErrorKind::Lacking,
        fmt::format("a checkpoint needs {} bytes, the file system of '{}' has {} free", bytes, folder, *available),
        {}};
  return {};
}

} // namespace hocket::checkpoint
