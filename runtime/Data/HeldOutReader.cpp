// Held-out batches; contracts in HeldOutReader.h.
#include "runtime/Data/HeldOutReader.h"
#include <algorithm>
#include <fmt/format.h>

namespace hocket::runtime {

static uint64_t ceilDiv(uint64_t a, uint64_t b) { return a / b + (a % b != 0); }

HeldOutReader::HeldOutReader(TokenFile from, const BatchShape &shape, uint64_t mostBatches)
    : file(std::move(from)), shape(shape),
      count(ceilDiv(ceilDiv(file.tokens() - 1, shape.sequence), shape.globalBatch)) {
  if (mostBatches)
    count = std::min(count, mostBatches);
}

Result<HeldOutReader> HeldOutReader::create(TokenFile file, const BatchShape &shape, uint64_t mostBatches) {
  if (file.tokens() < 2)
    return Error{ErrorKind::Invalid,
                 fmt::format("evaluation file '{}' has {} {} tokens, expected at least 2 (one to read, one to predict)",
                             file.path(), file.tokens(), toString(file.type())),
                 {}};
  return HeldOutReader(std::move(file), shape, mostBatches);
}

uint64_t HeldOutReader::countedTokens() const {
  return std::min(file.tokens() - 1, count * shape.globalBatch * shape.sequence);
}

uint64_t HeldOutReader::tokensRead() const { return countedTokens() + 1; }

Status HeldOutReader::checkIds(uint64_t mostBytes) const {
  if (tokensRead() * sizeBytes(file.type()) > mostBytes)
    return {};
  return file.checkIds(0, tokensRead(), shape.vocabulary);
}

Status HeldOutReader::read(uint64_t batch, uint64_t microbatch, uint64_t dataShard, std::span<int32_t> ids,
                           std::span<int32_t> next) const {
  uint64_t first = batch * shape.globalBatch + (microbatch * shape.dataShards + dataShard) * shape.microbatchRows;
  for (uint64_t row = 0; row < shape.microbatchRows; ++row) {
    uint64_t begin = std::min((first + row) * shape.sequence, file.tokens() - 1);
    uint64_t counted = std::min(shape.sequence, file.tokens() - 1 - begin);
    if (Status checked = file.checkIds(begin, begin + counted + 1, shape.vocabulary); !checked)
      return checked;
    for (uint64_t i = 0; i < shape.sequence; ++i) {
      bool real = i < counted;
      if (!ids.empty())
        ids[row * shape.sequence + i] = real ? static_cast<int32_t>(file.token(begin + i)) : 0;
      if (!next.empty())
        next[row * shape.sequence + i] = real ? static_cast<int32_t>(file.token(begin + i + 1)) : -1;
    }
  }
  return {};
}

} // namespace hocket::runtime
