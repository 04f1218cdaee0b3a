// Batches from a token file; contracts in BatchReader.h.
#include "runtime/Data/BatchReader.h"
#include <fmt/format.h>

namespace hocket::runtime {

BatchReader::BatchReader(TokenFile file, const BatchShape &shape, uint64_t seed)
    : file(std::move(file)), shape(shape), order(seed, samplesPerEpoch()) {}

Result<BatchReader> BatchReader::create(TokenFile file, const BatchShape &shape, uint64_t seed) {
  uint64_t tokens = file.tokens();
  uint64_t samples = samplesIn(tokens, shape.sequence);
  if (samples < shape.globalBatch)
    return Error{
        ErrorKind::Invalid,
        fmt::format("data file '{}' is too short: its {} {} tokens are {} samples of {} + 1 tokens, expected at "
                    "least {} samples ({} tokens) for one global batch",
                    file.path(), tokens, toString(file.type()), samples, shape.sequence, shape.globalBatch,
                    shape.globalBatch * shape.sequence + 1),
        {}};
  return BatchReader(std::move(file), shape, seed);
}

Status BatchReader::checkIds(uint64_t mostBytes) const {
  if (file.tokens() * sizeBytes(file.type()) > mostBytes)
    return {};
  return file.checkIds(0, file.tokens(), shape.vocabulary);
}

Status BatchReader::read(uint64_t step, uint64_t microbatch, uint64_t dataShard, std::span<int32_t> ids,
                         std::span<int32_t> next) const {
  uint64_t first = (step - 1) * shape.globalBatch + (microbatch * shape.dataShards + dataShard) * shape.microbatchRows;
  for (uint64_t row = 0; row < shape.microbatchRows; ++row) {
    uint64_t begin = order.sample(first + row) * shape.sequence;
    if (Status checked = file.checkIds(begin, begin + shape.sequence + 1, shape.vocabulary); !checked)
      return checked;
    for (uint64_t i = 0; i < shape.sequence; ++i) {
      if (!ids.empty())
        ids[row * shape.sequence + i] = static_cast<int32_t>(file.token(begin + i));
      if (!next.empty())
        next[row * shape.sequence + i] = static_cast<int32_t>(file.token(begin + i + 1));
    }
  }
  return {};
}

} // namespace hocket::runtime
