// Resharding and exporting; contracts in Convert.h.
#include "runtime/Checkpoint/Convert.h"
#include "runtime/Checkpoint/Shard.h"
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fmt/format.h>

namespace hocket::checkpoint {

using runtime::Error;
using runtime::ErrorKind;
using runtime::Result;
using runtime::Status;

std::vector<std::string> contentFaults(const Found &from, const Progress &progress) {
  std::vector<std::string> faults = from.faults;
  for (uint32_t file = 0; faults.empty() && file < from.index.files.size(); ++file)
    for (std::string &fault : shardFaults(from.folder, from.index, file, /*content=*/true, progress))
      faults.push_back(std::move(fault));
  return faults;
}

// ---- another plan ---------------------------------------------------------------------------------------------------
/// What of the index is the training's and not the plan's.
static void keepTraining(const Index &from, Index &layout) {
  layout.step = from.step;
  layout.samples = from.samples;
  layout.seed = from.seed;
  layout.model = from.model;
  layout.recipe = from.recipe;
  layout.globalBatch = from.globalBatch;
  layout.data = from.data;
}

static Status writeFiles(const Found &from, Index &layout, const Match &match, const std::string &folder) {
  ShardReader reader(from.folder, from.index);
  auto fill = [&](const Tensor &tensor, const Box &box, std::span<std::byte> to) {
    return reader.read(*match.sources.at({tensor.kind, tensor.name}), denseView(box, tensor.type), to.data(), {});
  };
  for (uint32_t file = 0; file < layout.files.size(); ++file) {
    Result<File> written = writeShard(partialFolder(folder, layout.step), layout, file, fill, {});
    if (!written)
      return std::move(written.error());
    layout.files[file] = std::move(*written);
  }
  return {};
}

Status reshard(const Found &from, Index layout, const Match &match, const std::string &folder) {
  keepTraining(from.index, layout);
  std::erase_if(layout.tensors, [&](const Tensor &tensor) {
    auto source = match.sources.find({tensor.kind, tensor.name});
    return source == match.sources.end() || !source->second;
  });
  if (Status made = makeFolders(folder); !made)
    return made;
  Result<FolderLock> lock = FolderLock::take(folder);
  if (!lock)
    return std::move(lock.error());
  if (Status ready = prepareFolder(folder, dataBytes(layout)); !ready)
    return ready;
  std::error_code error;
  if (std::filesystem::exists(stepFolder(folder, layout.step), error))
    return Error{ErrorKind::Invalid, fmt::format("'{}' exists already", stepFolder(folder, layout.step)), {}};
  if (Status begun = beginPartial(folder, layout.step); !begun)
    return begun;
  Status done = writeFiles(from, layout, match, folder);
  if (done)
    done = commit(folder, layout, UINT32_MAX);
  if (!done)
    if (Status cleaned = removeFolder(partialFolder(folder, layout.step)); !cleaned)
      done.error().message += "; " + cleaned.error().message;
  return done;
}

// ---- one file -------------------------------------------------------------------------------------------------------
/// The parameters as they shall be, by name.
static std::vector<Tensor> parametersOf(const Index &index, std::optional<program::DType> type) {
  std::vector<Tensor> result;
  for (const Tensor &tensor : index.tensors)
    if (tensor.kind == program::StateKind::Parameter)
      result.push_back({tensor.kind, tensor.name, type.value_or(tensor.type), tensor.shape, {}});
  // Elements of larger types first, so that all are aligned; the format asks for no order.
  std::sort(result.begin(), result.end(), [](const Tensor &a, const Tensor &b) {
    return std::pair(program::sizeOf(b.type), a.name) < std::pair(program::sizeOf(a.type), b.name);
  });
  return result;
}

static Status writeParameters(const Found &from, const std::vector<Tensor> &parameters, const Match &match,
                              NewFile &file) {
  constexpr uint64_t slabBytes = 4 << 20;
  ShardReader reader(from.folder, from.index);
  std::vector<std::byte> buffer;
  for (const Tensor &tensor : parameters) {
    uint64_t size = program::sizeOf(tensor.type);
    Status wrote = forEachSlab(wholeBox(tensor.shape), slabBytes / size, [&](const Box &slab) {
      buffer.resize(volume(slab) * size);
      Status read =
          reader.read(*match.sources.at({tensor.kind, tensor.name}), denseView(slab, tensor.type), buffer.data(), {});
      return read ? file.write({reinterpret_cast<const uint8_t *>(buffer.data()), buffer.size()}) : read;
    });
    if (!wrote)
      return wrote;
  }
  return file.finish();
}

Result<Exported> exportParameters(const Found &from, std::optional<program::DType> type, const std::string &path) {
  std::vector<Tensor> parameters = parametersOf(from.index, type);
  Match match = matchTensors(parameters, from.index);
  std::vector<TensorEntry> entries;
  Exported result;
  for (const Tensor &tensor : parameters) {
    entries.push_back({tensor.name, tensor.type, tensor.shape, 0, 0});
    result.elements += volume(wholeBox(tensor.shape));
  }
  std::string header =
      formatHeader(entries, {{"format", "pt"}, {"model", from.index.model}, {"step", std::to_string(from.index.step)}});
  result.tensors = entries.size();
  result.bytes = header.size() + (entries.empty() ? 0 : entries.back().end);
  std::string beside = path + ".tmp";
  std::remove(beside.c_str()); // of an export that was killed
  Result<NewFile> file = NewFile::create(beside, result.bytes, {});
  if (!file)
    return std::move(file.error());
  if (Status wrote = file->write({reinterpret_cast<const uint8_t *>(header.data()), header.size()}); !wrote)
    return std::move(wrote.error());
  if (Status wrote = writeParameters(from, parameters, match, *file); !wrote)
    return std::move(wrote.error());
  if (Status renamed = renameFolder(beside, path); !renamed) {
    std::remove(beside.c_str());
    return std::move(renamed.error());
  }
  return result;
}

} // namespace hocket::checkpoint
