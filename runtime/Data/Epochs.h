// How many samples a stream of tokens has, and how often a run reads it: arithmetic alone.
//
// A sample is `sequence` + 1 tokens, of which the last is only a label; sample i begins at token i * sequence; an epoch
// has floor((tokens - 1) / sequence) samples. No sample crosses from one epoch into the next, so what is left at the
// end of the stream is never read. (GPT-NeoX and Megatron-LM join epochs end to end instead: E of them have floor((E *
// tokens - 1) / sequence) samples.)
#ifndef HOCKET_RUNTIME_DATA_EPOCHS_H
#define HOCKET_RUNTIME_DATA_EPOCHS_H

#include <cstdint>
#include <string>

namespace hocket::runtime {

struct Epochs {
  uint64_t tokens, sequence; // sequence >= 1

  // 9 tokens, sequence 4 -> 2; 8 tokens -> 1; none -> 0.
  uint64_t samples() const { return tokens ? (tokens - 1) / sequence : 0; }
  // Tokens that no sample holds: 10 tokens, sequence 4 -> 1. Where there is no sample, all.
  uint64_t leftOver() const { return samples() ? tokens - 1 - samples() * sequence : tokens; }
  // Epochs that the first n samples of a run touch: of 5 a run, 5 -> 1, 6 -> 2, 0 -> 0. samples() >= 1.
  uint64_t touchedBy(uint64_t n) const { return n / samples() + (n % samples() != 0); }
  // Whole steps of `batch` samples in the first n epochs.
  uint64_t stepsIn(uint64_t n, uint64_t batch) const { return n * samples() / batch; }

  // For a person, one sentence a line: what an epoch is, and where in which epoch (the first is 1) so many steps of
  // `batch` samples end. samples() >= 1.
  std::string summary(uint64_t steps, uint64_t batch) const;
};

} // namespace hocket::runtime
#endif
