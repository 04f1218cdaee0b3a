// Contracts in Epochs.h.
#include "runtime/Data/Epochs.h"
#include <fmt/format.h>

namespace hocket::runtime {

std::string Epochs::summary(uint64_t steps, uint64_t batch) const {
  std::string text =
      fmt::format("an epoch is {} samples of {} + 1 tokens; {} tokens at the end of the data are not read", samples(),
                  sequence, leftOver());
  if (uint64_t read = steps * batch)
    text += fmt::format("\n{} steps of {} samples end at sample {} of epoch {}", steps, batch,
                        (read - 1) % samples() + 1, touchedBy(read));
  return text;
}

} // namespace hocket::runtime
