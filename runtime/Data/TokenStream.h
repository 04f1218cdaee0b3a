// The tokens of a data source, one after another, and where its documents end.
#ifndef HOCKET_RUNTIME_DATA_TOKENSTREAM_H
#define HOCKET_RUNTIME_DATA_TOKENSTREAM_H

#include "runtime/Data/DataSource.h"
#include "runtime/Data/MegatronIndex.h"
#include "runtime/Data/TokenFile.h"

namespace hocket::runtime {

// The files that a source means; nothing is read but whether an index stands beside.
struct DataFiles {
  DataFormat format;
  std::string data;
  std::string index; // empty: none
};
DataFiles filesOf(const DataSource &source);
// All of a source but its file: what must be equal for a run to go on in the same samples and labels. "u16";
// "megatron, not shuffled, ends masked".
std::string identityOf(const DataSource &source);

// Where rows of samples go; each of the three has room for all of them, or none where it is not wanted.
struct BatchRows {
  std::span<int32_t> tokens, labels;
  std::span<int32_t> documents; // the number of each token's document within its row, 0 for the first

  // Row `row` of rows of `length` elements.
  BatchRows row(uint64_t row, uint64_t length) const;
};

class TokenStream {
public:
  // Opens and maps; reads the header of an index, and no ids. Fails (Invalid) where a file is missing or foreign.
  static Result<TokenStream> open(const DataSource &source);

  const DataSource &source() const { return asked; }
  const TokenFile &file() const { return data; }
  uint64_t tokens() const { return data.tokens(); }
  bool hasDocuments() const { return index || asked.documentEnd; }
  // An error where the model reads documents and the stream has none.
  Status checkDocuments(bool modelReadsThem) const;

  // Everything that can be known without reading ids: whether the type can write the vocabulary, whether the ids that
  // the source speaks of are in it, and (Megatron-LM) every entry of the index. All faults in one error.
  Status check(uint64_t vocabulary) const;

  // One row of `length` tokens from token `begin` on, and the labels that follow them. A label is -1, and not counted,
  // where the source asks for it: after the last token of a document, and where the token or its label is padding.
  // Where the stream ends before the row does, the rest of it is id 0 with label -1, in a document of its own. Fails
  // where an id is not in the vocabulary.
  Status read(uint64_t begin, uint64_t length, uint64_t vocabulary, const BatchRows &row) const;

  // For a person: "6000 u16 tokens in 12 documents (2 of them empty) of 'text.bin'"; of bytes, how much of a larger
  // vocabulary they cannot be. Reads the whole index.
  std::string summary(uint64_t vocabulary) const;

private:
  void markEnds(uint64_t begin, std::span<const int32_t> tokens, std::span<uint8_t> ends) const;
  TokenStream(DataSource asked, TokenFile data, std::optional<MegatronIndex> index)
      : asked(std::move(asked)), data(std::move(data)), index(std::move(index)) {}
  DataSource asked;
  TokenFile data;
  std::optional<MegatronIndex> index;
};

} // namespace hocket::runtime
#endif
