// Held-out batches; contracts in HeldOutReader.h.
#include "runtime/Data/HeldOutReader.h"
#include <algorithm>
#include <fmt/format.h>

namespace hocket::runtime {

static uint64_t ceilDiv(uint64_t a, uint64_t b) { return a / b + (a % b != 0); }

HeldOutReader::HeldOutReader(TokenStream from, const BatchShape &shape, uint64_t mostBatches)
    : stream(std::move(from)), shape(shape),
      count(ceilDiv(ceilDiv(stream.tokens() - 1, shape.sequence), shape.globalBatch)) {
  if (mostBatches)
    count = std::min(count, mostBatches);
}

Result<HeldOutReader> HeldOutReader::create(TokenStream stream, const BatchShape &shape, uint64_t mostBatches) {
  if (stream.tokens() < 2)
    return Error{ErrorKind::Invalid,
                 fmt::format("evaluation file '{}' has {} {} tokens, expected at least 2 (one to read, one to predict)",
                             stream.file().path(), stream.tokens(), toString(stream.file().type())),
                 {}};
  if (Status documents = stream.checkDocuments(shape.documents); !documents)
    return std::move(documents.error());
  return HeldOutReader(std::move(stream), shape, mostBatches);
}

uint64_t HeldOutReader::countedTokens() const {
  return std::min(stream.tokens() - 1, count * shape.globalBatch * shape.sequence);
}

uint64_t HeldOutReader::tokensRead() const { return countedTokens() + 1; }

Status HeldOutReader::check(uint64_t mostBytes) const {
  if (Status sound = stream.check(shape.vocabulary); !sound)
    return sound;
  if (tokensRead() * sizeBytes(stream.file().type()) > mostBytes)
    return {};
  return stream.file().checkIds(0, tokensRead(), shape.vocabulary);
}

Status HeldOutReader::read(uint64_t batch, uint64_t microbatch, uint64_t dataShard, const BatchRows &rows) const {
  uint64_t first = batch * shape.globalBatch + (microbatch * shape.dataShards + dataShard) * shape.microbatchRows;
  for (uint64_t row = 0; row < shape.microbatchRows; ++row) {
    // The last token is only a label: what would begin with it lies past the end.
    uint64_t begin = (first + row) * shape.sequence;
    begin = begin + 1 < stream.tokens() ? begin : stream.tokens();
    if (Status read = stream.read(begin, shape.sequence, shape.vocabulary, rows.row(row, shape.sequence)); !read)
      return read;
  }
  return {};
}

} // namespace hocket::runtime
