// Files of a checkpoint; contracts in Shard.h.
#include "runtime/Checkpoint/Shard.h"
#include <algorithm>
#include <fmt/format.h>

namespace hocket::checkpoint {

using runtime::Error;
using runtime::ErrorKind;
using runtime::Result;
using runtime::Status;

static constexpr uint64_t slabBytes = 4 << 20;

static std::string headerOf(const Index &layout, uint32_t file, const std::vector<Part> &parts) {
  std::vector<TensorEntry> entries;
  for (const Part &part : parts) {
    const Tensor &tensor = layout.tensors[part.tensor];
    TensorEntry &entry = entries.emplace_back(TensorEntry{tensor.key(), tensor.type, {}, 0, 0});
    for (const program::Range &range : tensor.pieces[part.piece].box)
      entry.shape.push_back(range.size());
  }
  return formatHeader(entries, {{"format", "hocket shard"},
                                {"step", std::to_string(layout.step)},
                                {"rank", std::to_string(layout.files[file].rank)}});
}

uint64_t shardBytes(const Index &layout, uint32_t file) {
  std::vector<Part> parts = partsOf(layout, file);
  return headerOf(layout, file, parts).size() + dataBytes(layout, parts);
}

static std::span<const uint8_t> bytesOf(std::span<const std::byte> data) {
  return {reinterpret_cast<const uint8_t *>(data.data()), data.size()};
}

Result<File> writeShard(const std::string &folder, const Index &layout, uint32_t file, const Fill &fill,
                        const Progress &progress) {
  std::vector<Part> parts = partsOf(layout, file);
  std::string header = headerOf(layout, file, parts);
  Result<NewFile> made =
      NewFile::create(folder + "/" + layout.files[file].name, header.size() + dataBytes(layout, parts), progress);
  if (!made)
    return std::move(made.error());
  if (Status wrote = made->write(bytesOf(std::as_bytes(std::span(header)))); !wrote)
    return std::move(wrote.error());
  std::vector<std::byte> buffer;
  for (const Part &part : parts) {
    const Tensor &tensor = layout.tensors[part.tensor];
    uint64_t size = program::sizeOf(tensor.type);
    Status wrote = forEachSlab(tensor.pieces[part.piece].box, slabBytes / size, [&](const Box &slab) {
      buffer.resize(volume(slab) * size);
      Status filled = fill(tensor, slab, buffer);
      return filled ? made->write(bytesOf(buffer)) : filled;
    });
    if (!wrote)
      return std::move(wrote.error());
  }
  if (Status finished = made->finish(); !finished)
    return std::move(finished.error());
  return File{layout.files[file].name, layout.files[file].rank, made->bytes(), made->checksum()};
}

/// Where the header's tensors are not those that the index says.
static void compareTensors(const Index &index, uint32_t file, const Header &header, std::vector<std::string> &faults) {
  std::unordered_map<std::string_view, const TensorEntry *> found;
  for (const TensorEntry &entry : header.tensors)
    found.emplace(entry.name, &entry);
  for (const Part &part : partsOf(index, file)) {
    const Tensor &tensor = index.tensors[part.tensor];
    const Box &box = tensor.pieces[part.piece].box;
    std::string key = tensor.key();
    auto entry = found.find(key);
    if (entry == found.end()) {
      faults.push_back(fmt::format("lacks tensor '{}', of which the index says that it holds {}", key, text(box)));
      continue;
    }
    View expected = denseView(box, tensor.type);
    if (entry->second->type != expected.type || entry->second->shape != expected.extents)
      faults.push_back(fmt::format("holds '{}' as {} {}, the index says {} {}", key, shapeText(entry->second->shape),
                                   EnumNameDType(entry->second->type), shapeText(expected.extents),
                                   EnumNameDType(expected.type)));
    found.erase(entry);
  }
  for (const TensorEntry &entry : header.tensors)
    if (found.count(entry.name))
      faults.push_back(fmt::format("holds tensor '{:.120}', of which the index knows nothing", entry.name));
}

std::vector<std::string> shardFaults(const std::string &folder, const Index &index, uint32_t file, bool content,
                                     const Progress &progress) {
  const File &expected = index.files[file];
  std::string path = folder + "/" + expected.name;
  std::vector<std::string> faults;
  Result<std::unique_ptr<MappedFile>> mapped = MappedFile::open(path);
  if (!mapped)
    return {mapped.error().message};
  std::span<const uint8_t> bytes = (*mapped)->bytes();
  if (bytes.size() != expected.bytes)
    faults.push_back(fmt::format("has {} bytes, the index says {}", bytes.size(), expected.bytes));
  ParsedHeader parsed = parseHeader(bytes, bytes.size());
  faults.insert(faults.end(), parsed.faults.begin(), parsed.faults.end());
  if (parsed.faults.empty())
    compareTensors(index, file, parsed.header, faults);
  if (content && faults.empty()) {
    Result<uint64_t> sum = checksumOf(path, progress);
    if (!sum)
      return {sum.error().message};
    if (*sum != expected.checksum)
      faults.push_back(
          fmt::format("is damaged: its content has checksum {:016x}, the index says {:016x}", *sum, expected.checksum));
  }
  for (std::string &fault : faults)
    fault = fmt::format("'{}' {}", path, fault);
  return faults;
}

Result<const ShardReader::Shard *> ShardReader::shard(uint32_t file) {
  auto known = shards.find(file);
  if (known != shards.end())
    return &known->second;
  std::string path = folder + "/" + index.files[file].name;
  Result<std::unique_ptr<MappedFile>> mapped = MappedFile::open(path);
  if (!mapped)
    return std::move(mapped.error());
  ParsedHeader parsed = parseHeader((*mapped)->bytes(), (*mapped)->bytes().size());
  if (!parsed.faults.empty())
    return Error{ErrorKind::Invalid, fmt::format("'{}': {}", path, fmt::join(parsed.faults, "; ")), {}};
  Shard &made = shards[file];
  made.file = std::move(*mapped);
  made.dataOffset = parsed.header.dataOffset;
  for (TensorEntry &entry : parsed.header.tensors)
    made.tensors.emplace(entry.name, entry);
  return &made;
}

Status ShardReader::read(uint32_t tensorIndex, const View &to, std::byte *target, const Progress &progress) {
  const Tensor &tensor = index.tensors[tensorIndex];
  for (const Piece &piece : tensor.pieces) {
    std::optional<Box> part = intersect(piece.box, to.box);
    if (!part)
      continue;
    Result<const Shard *> from = shard(piece.file);
    if (!from)
      return std::move(from.error());
    auto entry = (*from)->tensors.find(tensor.key());
    View stored = denseView(piece.box, tensor.type);
    if (entry == (*from)->tensors.end() || entry->second.type != stored.type || entry->second.shape != stored.extents)
      return Error{ErrorKind::Invalid,
                   fmt::format("'{}/{}' does not hold {} as the index says", folder, index.files[piece.file].name,
                               tensor.text()),
                   {}};
    uint64_t begin = (*from)->dataOffset + entry->second.begin;
    const std::byte *source = reinterpret_cast<const std::byte *>((*from)->file->bytes().data()) + begin;
    Status copied = forEachSlab(*part, slabBytes / program::sizeOf(to.type), [&](const Box &slab) {
      copyBox(slab, stored, source, to, target);
      if (progress)
        progress();
      return Status();
    });
    if (!copied)
      return copied;
    (*from)->file->forget(begin, (*from)->dataOffset + entry->second.end);
  }
  return {};
}

} // namespace hocket::checkpoint
