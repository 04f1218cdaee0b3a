// In which order samples are read: epoch after epoch, each epoch a keyed permutation of all samples that depends on
// (seed, epoch) alone. A balanced Feistel network on the next even power of two, walked until it falls into range
// (Black and Rogaway, "Ciphers with arbitrary finite domains", section 5: cycle walking).
#ifndef HOCKET_RUNTIME_DATA_SAMPLEORDER_H
#define HOCKET_RUNTIME_DATA_SAMPLEORDER_H

#include <cstdint>

namespace hocket::runtime {

class SampleOrder {
public:
  // samplesPerEpoch >= 1.
  SampleOrder(uint64_t seed, uint64_t samplesPerEpoch);
  // The order of the file, the same in every epoch. For data that was shuffled or put in order on purpose.
  static SampleOrder sequential(uint64_t samplesPerEpoch);

  // Which sample of the file is the i-th that training reads, i counted from the start of training over all epochs.
  uint64_t sample(uint64_t i) const;
  // Place `index` of the permutation of `epoch`; a bijection of [0, samplesPerEpoch).
  uint64_t permuted(uint64_t epoch, uint64_t index) const;

private:
  uint64_t seed;
  uint64_t count;
  unsigned halfBits;
  bool shuffled = true;
};

} // namespace hocket::runtime
#endif
