// What a person says about data: where it lies, how it is written, what of it counts.
#ifndef HOCKET_RUNTIME_DATA_DATASOURCE_H
#define HOCKET_RUNTIME_DATA_DATASOURCE_H

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace hocket::runtime {

// Flat files of token ids, little-endian, one after another; or Megatron-LM's PREFIX.bin with PREFIX.idx.
enum class DataFormat : uint8_t { U8, U16, U32, Megatron };
std::string_view toString(DataFormat format);                     // "megatron"
std::optional<DataFormat> parseDataFormat(std::string_view text); // "u16" -> U16; nothing for other words

struct DataSource {
  std::string path; // a flat file; of Megatron's format PREFIX, PREFIX.bin or PREFIX.idx
  // Left out: megatron where PREFIX.idx begins as Megatron's do and `path` names it, its .bin or their prefix;
  // otherwise u8.
  std::optional<DataFormat> format;
  // This id is the last token of every document. Left out: documents are those of a Megatron-LM index, and a flat file
  // has none.
  std::optional<uint64_t> documentEnd;
  std::optional<uint64_t> padding; // no label is counted where this id is the token or its label
  bool maskDocumentEnds = false;   // the label after a document's last token is not counted
  bool shuffle = true;             // false: samples in the order of the file
};

} // namespace hocket::runtime
#endif
