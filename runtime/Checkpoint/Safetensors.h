// The safetensors file format, as Hugging Face's `safetensors` defines it: 8 bytes with the length of a JSON header
// (little-endian), the header, then the tensors' bytes, back to back:
//   {"__metadata__": {"format": "pt"}, "wte": {"dtype": "F32", "shape": [256, 128], "data_offsets": [0, 131072]}, …}
// What is read is trusted in nothing: every length, offset and shape is checked against the file before it is used.
#ifndef HOCKET_RUNTIME_CHECKPOINT_SAFETENSORS_H
#define HOCKET_RUNTIME_CHECKPOINT_SAFETENSORS_H

#include "runtime/Program/Result.h"
#include "runtime/Program/program_generated.h"
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace hocket::checkpoint {

struct TensorEntry {
  std::string name;
  program::DType type;
  std::vector<uint64_t> shape;
  uint64_t begin, end; // bytes, from the start of the data
};

struct Header {
  std::vector<TensorEntry> tensors; // in the order of their data, which they cover without holes or overlaps
  std::map<std::string, std::string> metadata;
  uint64_t dataOffset = 0; // of the data in the file

  const TensorEntry *find(std::string_view name) const;
};

// The format's own limit on the length of a header.
inline constexpr uint64_t mostHeaderBytes = 100'000'000;

struct ParsedHeader {
  Header header;
  std::vector<std::string> faults; // all of them, at most 32; empty: the header is sound
};
// `start`: the first bytes of the file, its whole header included (more does no harm); `fileBytes`: the file's size.
ParsedHeader parseHeader(std::span<const uint8_t> start, uint64_t fileBytes);

// The bytes before the data: length and header, padded with spaces so that the data begins at a multiple of 64. `begin`
// and `end` of the tensors are set: they lie in the order given.
std::string formatHeader(std::vector<TensorEntry> &tensors, const std::map<std::string, std::string> &metadata);

} // namespace hocket::checkpoint
#endif
