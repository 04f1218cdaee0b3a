// The fingerprint of a data file; contract in DataIdentity.h.
#include "runtime/Checkpoint/DataIdentity.h"
#include "runtime/Checkpoint/Files.h"
#include <algorithm>

namespace hocket::checkpoint {

runtime::Result<DataIdentity> identify(const std::string &path, std::string_view type) {
  constexpr uint64_t pieces = 64, pieceBytes = 4096;
  runtime::Result<std::unique_ptr<MappedFile>> file = MappedFile::open(path);
  if (!file)
    return std::move(file.error());
  std::span<const uint8_t> bytes = (*file)->bytes();
  program::Checksum sum;
  if (bytes.size() <= pieces * pieceBytes) {
    sum.add(bytes);
  } else {
    // The last piece ends with the file.
    uint64_t last = bytes.size() - pieceBytes;
    for (uint64_t i = 0; i < pieces; ++i) {
      auto begin = static_cast<uint64_t>(static_cast<unsigned __int128>(last) * i / (pieces - 1));
      sum.add(bytes.subspan(begin, pieceBytes));
    }
  }
  return DataIdentity{path, std::string(type), bytes.size(), sum.value()};
}

} // namespace hocket::checkpoint
