// Contracts in MegatronIndex.h.
#include "runtime/Data/MegatronIndex.h"
#include <array>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <fstream>
#include <optional>
#include <vector>

namespace hocket::runtime {

static constexpr std::string_view magic("MMIDIDX\0\0", 9);

bool MegatronIndex::standsAt(const std::string &path) {
  Result<MappedFile> file = MappedFile::open(path, "index");
  return file && file->sizeBytes() >= magic.size() && std::memcmp(file->data(), magic.data(), magic.size()) == 0;
}

static Error damaged(const std::string &path, const std::vector<std::string> &faults) {
  return {ErrorKind::Invalid, fmt::format("index '{}' is damaged: {}", path, fmt::join(faults, "; ")), {}};
}

static std::optional<TokenType> typeOfCode(unsigned code) {
  switch (code) {
  case 1:
    return TokenType::U8;
  case 2:
    return TokenType::I8;
  case 3:
    return TokenType::I16;
  case 4:
    return TokenType::I32;
  case 5:
    return TokenType::I64;
  case 8:
    return TokenType::U16;
  default:
    return {};
  }
}

static std::string badType(unsigned code) {
  std::string_view named = code == 6 ? " (f64)" : code == 7 ? " (f32)" : "";
  return fmt::format("its type code is {}{}, expected 1 (u8), 2 (i8), 3 (i16), 4 (i32), 5 (i64) or 8 (u16)", code,
                     named);
}

/// What is wrong with a file of `bytes` bytes that announces so many entries; empty if nothing is.
static std::string badSize(uint64_t header, uint64_t bytes, uint64_t sequences, uint64_t documentIndices) {
  constexpr uint64_t most = UINT64_MAX / 64; // no product below overflows
  std::string counts = fmt::format("{} sequences and {} document indices", sequences, documentIndices);
  if (sequences > most || documentIndices > most)
    return fmt::format("it announces {}, more than its {} bytes hold", counts, bytes);
  uint64_t expected = header + 12 * sequences + 8 * documentIndices;
  if (bytes == expected)
    return "";
  if (bytes == expected + sequences)
    return fmt::format("it gives each of its {} sequences a mode (multimodal data), expected text alone: {} bytes, not "
                       "{}",
                       sequences, expected, bytes);
  return fmt::format("it has {} bytes, expected {} for {}", bytes, expected, counts);
}

Result<MegatronIndex> MegatronIndex::open(const std::string &path) {
  Result<MappedFile> mapped = MappedFile::open(path, "index");
  if (!mapped)
    return std::move(mapped.error());
  MegatronIndex index(std::move(*mapped));
  const MappedFile &file = index.file;
  if (file.sizeBytes() < magic.size() || std::memcmp(file.data(), magic.data(), magic.size()) != 0)
    return Error{ErrorKind::Invalid,
                 fmt::format("'{}' is no Megatron-LM index: it does not begin with MMIDIDX and two zero bytes", path),
                 {}};
  if (file.sizeBytes() < header)
    return damaged(path, {fmt::format("it has {} bytes, its header alone {}", file.sizeBytes(), header)});
  if (uint64_t version = file.read<uint64_t>(9); version != 1)
    return damaged(path, {fmt::format("its version is {}, expected 1", version)});
  std::vector<std::string> faults;
  unsigned code = file.read<uint8_t>(17);
  std::optional<TokenType> type = typeOfCode(code);
  if (!type)
    faults.push_back(badType(code));
  index.kind = type.value_or(TokenType::U8);
  index.sequences = file.read<uint64_t>(18);
  index.documentIndices = file.read<uint64_t>(26);
  if (std::string fault = badSize(header, file.sizeBytes(), index.sequences, index.documentIndices); !fault.empty())
    faults.push_back(fault);
  if (index.documentIndices == 0)
    faults.push_back("it has no document indices, expected at least one, 0");
  if (!faults.empty())
    return damaged(path, faults);
  return index;
}

uint64_t MegatronIndex::documentStart(uint64_t d) const {
  uint64_t sequence = static_cast<uint64_t>(firstSequence(d));
  if (sequence < sequences)
    return static_cast<uint64_t>(pointer(sequence)) / sizeBytes(kind);
  if (sequences == 0)
    return 0;
  return static_cast<uint64_t>(pointer(sequences - 1)) / sizeBytes(kind) + static_cast<uint64_t>(length(sequences - 1));
}

uint64_t MegatronIndex::emptyDocuments() const {
  uint64_t empty = 0;
  for (uint64_t d = 0; d < documents(); ++d)
    empty += documentStart(d) == documentStart(d + 1);
  return empty;
}

namespace {
/// The first fault of a kind, and how many more there are.
struct Fault {
  std::string first;
  uint64_t count = 0;
  template <class... Ts> void add(fmt::format_string<Ts...> text, Ts &&...values) {
    if (count++ == 0)
      first = fmt::format(text, std::forward<Ts>(values)...);
  }
  std::string text() const { return count > 1 ? fmt::format("{} (and {} more)", first, count - 1) : first; }
};
} // namespace

Status MegatronIndex::check(uint64_t dataBytes) const {
  Fault lengths, pointers, documents;
  uint64_t at = 0; // where the next sequence has to begin
  for (uint64_t i = 0; i < sequences; ++i) {
    int64_t begin = pointer(i);
    if (begin < 0 || static_cast<uint64_t>(begin) != at)
      pointers.add("sequence {} begins at byte {}, expected {}, where the sequence before it ends", i, begin, at);
    if (length(i) < 0)
      lengths.add("sequence {} has {} tokens, expected at least 0", i, length(i));
    else
      at += static_cast<uint64_t>(length(i)) * sizeBytes(kind);
  }
  int64_t before = 0;
  for (uint64_t d = 0; d < documentIndices; ++d) {
    int64_t first = firstSequence(d);
    int64_t least = before, most = d == 0 ? 0 : static_cast<int64_t>(sequences);
    if (d == documentIndices - 1)
      least = static_cast<int64_t>(sequences);
    if (d == 0 && documentIndices == 1)
      most = least;
    if (first < least || first > most)
      documents.add("document index {} of {} is {}, expected {}", d, documentIndices, first,
                    least == most ? fmt::format("{}", least) : fmt::format("from {} to {}", least, most));
    else
      before = first;
  }
  std::vector<std::string> faults;
  for (const Fault &fault : {lengths, pointers, documents})
    if (fault.count)
      faults.push_back(fault.text());
  if (lengths.count == 0 && at != dataBytes)
    faults.push_back(fmt::format("its sequences take {} bytes, its data file has {}", at, dataBytes));
  return faults.empty() ? Status() : damaged(path(), faults);
}

} // namespace hocket::runtime
