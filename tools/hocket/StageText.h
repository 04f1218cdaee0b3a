// What explain says of one stage; and which stages it says the same of.
#pragma once
#include "tools/hocket/Report.h"

namespace hocket::tools {

/// Neighbouring stages whose ranks hold, join and send the same but for the numbers of layers and stages. How many
/// microbatches are in flight, and so the memory, may differ.
struct StageClass {
  std::vector<const RankReport *> members; ///< at least one
};
std::vector<StageClass> stageClasses(const Report &report);

/// The block of a class: names are those of its first stage; layers and memory are those of every stage.
std::string classText(const Report &report, const StageClass &alike, bool pipeline);

/// Up to 8 ranks all, more as the ends and how many: "0 16 32 … 1008 (64 ranks)".
std::string ranksText(const std::vector<uint32_t> &ranks);
} // namespace hocket::tools
