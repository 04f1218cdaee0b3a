// A held-out file as batches, in the order of the file: every token but the first is predicted exactly once. Sequence i
// starts at token i * sequence. What lies past the end of the file (the rest of its last sequence, and the sequences
// that the last batch lacks) is id 0 with label -1, which no loss counts. Rows are dealt to microbatches and data
// shards as in training (BatchReader.h), so the sum over a batch is the same under every plan.
#ifndef HOCKET_RUNTIME_DATA_HELDOUTREADER_H
#define HOCKET_RUNTIME_DATA_HELDOUTREADER_H

#include "runtime/Data/BatchReader.h"

namespace hocket::runtime {

class HeldOutReader {
public:
  // Fails where the file has no token to predict. Does not read the ids. `mostBatches`: only so many of the file's
  // batches, from its begin; 0: all.
  static Result<HeldOutReader> create(TokenStream stream, const BatchShape &shape, uint64_t mostBatches);

  // 17 tokens, sequence 4, 2 sequences a batch -> 2; 18 -> 3 (of the last one token counts).
  uint64_t batches() const { return count; }
  // Labels in all batches together; those that the source masks are among them.
  uint64_t countedTokens() const;
  // Checks the ids of the batches against the vocabulary, if they have at most `mostBytes`; as BatchReader's.
  Status check(uint64_t mostBytes = BatchReader::checkedAtStart) const;

  // As BatchReader's; 0 <= batch < batches().
  Status read(uint64_t batch, uint64_t microbatch, uint64_t dataShard, const BatchRows &rows) const;

private:
  HeldOutReader(TokenStream stream, const BatchShape &shape, uint64_t mostBatches);
  uint64_t tokensRead() const; // from the begin of the file
  TokenStream stream;
  BatchShape shape;
  uint64_t count;
};

} // namespace hocket::runtime
#endif
