// Contracts in BatchReader.h.
#include "runtime/Data/BatchReader.h"
#include <fmt/format.h>

namespace hocket::runtime {

BatchReader::BatchReader(TokenStream stream, const BatchShape &shape, uint64_t seed)
    : stream(std::move(stream)), shape(shape),
      order(this->stream.source().shuffle ? SampleOrder(seed, epochs().samples())
                                          : SampleOrder::sequential(epochs().samples())) {}

Result<BatchReader> BatchReader::create(TokenStream stream, const BatchShape &shape, uint64_t seed) {
  const TokenFile &file = stream.file();
  uint64_t samples = Epochs{file.tokens(), shape.sequence}.samples();
  if (samples < shape.globalBatch)
    return Error{
        ErrorKind::Invalid,
        fmt::format("data file '{}' is too short: its {} {} tokens are {} samples of {} + 1 tokens, expected at "
                    "least {} samples ({} tokens) for one global batch",
                    file.path(), file.tokens(), toString(file.type()), samples, shape.sequence, shape.globalBatch,
                    shape.globalBatch * shape.sequence + 1),
        {}};
  if (Status documents = stream.checkDocuments(shape.documents); !documents)
    return std::move(documents.error());
  return BatchReader(std::move(stream), shape, seed);
}

Status BatchReader::check(uint64_t mostBytes) const {
  if (Status sound = stream.check(shape.vocabulary); !sound)
    return sound;
  if (stream.file().dataBytes() > mostBytes)
    return {};
  return stream.file().checkIds(0, stream.tokens(), shape.vocabulary);
}

Status BatchReader::read(uint64_t cursor, uint64_t microbatch, uint64_t dataShard, const BatchRows &rows) const {
  uint64_t first = cursor + (microbatch * shape.dataShards + dataShard) * shape.microbatchRows;
  for (uint64_t row = 0; row < shape.microbatchRows; ++row)
    if (Status read = stream.read(order.sample(first + row) * shape.sequence, shape.sequence, shape.vocabulary,
                                  rows.row(row, shape.sequence));
        !read)
      return read;
  return {};
}

} // namespace hocket::runtime
