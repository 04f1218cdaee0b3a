// Which sequences a rank reads. Samples are those of Epochs.h, in the order of SampleOrder.h. A step that begins when c
// samples have been consumed since the start of training (the *cursor*) uses samples [c, c + B) of the order, B the
// global batch: the cursor alone says where a run stands in its data, and a run resumed with another global batch goes
// on behind the last sample that was read. Global microbatch j holds rows [j * G, (j+1) * G) of the batch, where
// G = rows per data shard * shards, and data shard d takes rows [d * rows, (d+1) * rows) of it. So the global batch,
// and with it the loss, is the same under every plan.
#ifndef HOCKET_RUNTIME_DATA_BATCHREADER_H
#define HOCKET_RUNTIME_DATA_BATCHREADER_H

#include "runtime/Data/Epochs.h"
#include "runtime/Data/SampleOrder.h"
#include "runtime/Data/TokenStream.h"

namespace hocket::runtime {

struct BatchShape {
  uint64_t globalBatch;    // sequences
  uint64_t sequence;       // tokens
  uint64_t vocabulary;     // ids are below it
  uint64_t microbatchRows; // sequences of one data shard in one microbatch
  uint64_t dataShards;
  bool documents = false; // the model reads document numbers
};

class BatchReader {
public:
  // Fails (Invalid) where the stream is too short for one global batch, or the model reads documents and it has none.
  static Result<BatchReader> create(TokenStream stream, const BatchShape &shape, uint64_t seed);

  const TokenStream &tokens() const { return stream; }
  Epochs epochs() const { return {stream.tokens(), shape.sequence}; }

  // What must hold before a run starts: TokenStream::check, and every id of a file of at most `mostBytes` is in the
  // vocabulary. Every id is looked at again when it is read, so a larger file fails at the first touch.
  static constexpr uint64_t checkedAtStart = uint64_t(1) << 30;
  Status check(uint64_t mostBytes = checkedAtStart) const;

  // The rows of one microbatch of one data shard in the step that begins at `cursor`: each of `rows` has
  // microbatchRows * sequence elements, or none where it is not wanted. Pure.
  Status read(uint64_t cursor, uint64_t microbatch, uint64_t dataShard, const BatchRows &rows) const;

private:
  BatchReader(TokenStream stream, const BatchShape &shape, uint64_t seed);
  TokenStream stream;
  BatchShape shape;
  SampleOrder order;
};

} // namespace hocket::runtime
#endif
