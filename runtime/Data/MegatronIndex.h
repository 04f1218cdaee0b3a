// Megatron-LM's index of a token file (megatron/core/datasets/indexed_dataset.py): PREFIX.idx beside PREFIX.bin.
//
//   byte 0   "MMIDIDX\0\0"
//        9   u64  version: 1
//       17   u8   type of the ids: 1 u8, 2 i8, 3 i16, 4 i32, 5 i64, 6 f64, 7 f32, 8 u16
//       18   u64  n, sequences
//       26   u64  d, document indices: one more than there are documents
//       34   n i32  tokens of each sequence
//            n i64  byte of PREFIX.bin at which each begins
//            d i64  the sequence with which each document begins, and n at the end
//            n i8   modes; only of multimodal data, which is refused
//
// All little-endian, none aligned. Megatron's writers put sequences one after another, so that PREFIX.bin is one stream
// of tokens; an index with gaps or overlaps is damaged. A document may be empty: Megatron's preprocessing leaves one
// for every text without a token.
#ifndef HOCKET_RUNTIME_DATA_MEGATRONINDEX_H
#define HOCKET_RUNTIME_DATA_MEGATRONINDEX_H

#include "runtime/Data/MappedFile.h"
#include "runtime/Data/TokenType.h"

namespace hocket::runtime {

class MegatronIndex {
public:
  // Whether the file is there and begins as an index does.
  static bool standsAt(const std::string &path);

  // Reads the header. Fails (Invalid), with every fault of it, where the file is foreign, of another version, of
  // numbers that are no ids, or longer or shorter than its counts say.
  static Result<MegatronIndex> open(const std::string &path);
  // Every entry against the others and against the bytes of PREFIX.bin; all kinds of fault in one error, the first of
  // each kind with its place. Reads the whole index.
  Status check(uint64_t dataBytes) const;

  const std::string &path() const { return file.path(); }
  TokenType type() const { return kind; }
  uint64_t documents() const { return documentIndices - 1; }
  // The token with which document d begins, d <= documents(); of the last, where the stream ends. In a damaged index
  // any number.
  uint64_t documentStart(uint64_t d) const;
  // Documents without a token. Reads the whole index.
  uint64_t emptyDocuments() const;

private:
  explicit MegatronIndex(MappedFile file) : file(std::move(file)) {}
  int32_t length(uint64_t sequence) const { return file.read<int32_t>(header + 4 * sequence); }
  int64_t pointer(uint64_t sequence) const { return file.read<int64_t>(header + 4 * sequences + 8 * sequence); }
  int64_t firstSequence(uint64_t d) const { return file.read<int64_t>(header + 12 * sequences + 8 * d); }

  static constexpr uint64_t header = 34;
  MappedFile file;
  TokenType kind = TokenType::U8;
  uint64_t sequences = 0, documentIndices = 1;
};

} // namespace hocket::runtime
#endif
