// Which sequences a rank reads. A sample is `sequence` + 1 tokens (the last is only a label); sample i starts at token
// i * sequence; an epoch has floor((T - 1) / sequence) samples and no sample crosses an epoch. Step t (from 1) uses
// samples [(t-1) * B, t * B) of the order; global microbatch j holds rows [j * G, (j+1) * G) of the batch, where
// G = rows per data shard * shards, and data shard d takes rows [d * rows, (d+1) * rows) of it. So the global batch,
// and with it the loss, is the same under every plan.
#ifndef HOCKET_RUNTIME_DATA_BATCHREADER_H
#define HOCKET_RUNTIME_DATA_BATCHREADER_H

#include "runtime/Data/SampleOrder.h"
#include "runtime/Data/TokenFile.h"
#include <span>

namespace hocket::runtime {

struct BatchShape {
  uint64_t globalBatch;    // sequences
  uint64_t sequence;       // tokens
  uint64_t vocabulary;     // ids are below it
  uint64_t microbatchRows; // sequences of one data shard in one microbatch
  uint64_t dataShards;
};

class BatchReader {
public:
  // Fails where the file is too short for one global batch. Does not read the ids.
  static Result<BatchReader> create(TokenFile file, const BatchShape &shape, uint64_t seed);

  // 9 tokens, sequence 4 -> 2; 8 tokens -> 1; none -> 0.
  static uint64_t samplesIn(uint64_t tokens, uint64_t sequence) { return tokens ? (tokens - 1) / sequence : 0; }
  uint64_t samplesPerEpoch() const { return samplesIn(file.tokens(), shape.sequence); }
  const TokenFile &tokenFile() const { return file; }

  // Checks ids of the whole file against the vocabulary, if it has at most `mostBytes`; every id is checked again when
  // it is read, so a larger file fails at the first touch.
  static constexpr uint64_t checkedAtStart = uint64_t(1) << 30;
  Status checkIds(uint64_t mostBytes = checkedAtStart) const;

  // The rows of one microbatch of one data shard: `ids` and `next` (labels) have microbatchRows * sequence elements;
  // either may be empty. step >= 1.
  Status read(uint64_t step, uint64_t microbatch, uint64_t dataShard, std::span<int32_t> ids,
              std::span<int32_t> next) const;

private:
  BatchReader(TokenFile file, const BatchShape &shape, uint64_t seed);
  TokenFile file;
  BatchShape shape;
  SampleOrder order;
};

} // namespace hocket::runtime
#endif
