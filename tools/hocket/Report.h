// What a program will do, counted from the program file itself: who holds what, who sends what to whom and why.
#pragma once
#include "runtime/Program/program_generated.h"
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace hocket::tools {

/// All ranks of one stage do the same; `coordinates` is the first of them.
struct RankReport {
  std::string coordinates;
  uint32_t stage = 0, ranks = 0;
  std::string layers;
  uint64_t peakBytes = 0;
  std::map<std::string, uint64_t> bytesByClass;
  std::vector<std::string> groups;  ///< "over {\"dp\"}: pp=0 dp=0 tp=0, pp=0 dp=1 tp=0"
  std::string order;                ///< "begin F0 F1 B0 F2 B1 … update"
};

/// One kind of transfer of a step, on every rank of its stage.
struct TransferReport {
  uint32_t stage = 0;
  std::string op, axes, cause, path, source;
  uint64_t bytes = 0; ///< of one message: the whole value that is reduced or gathered, or what is sent
  uint64_t count = 0; ///< a step
};

struct Report {
  std::vector<RankReport> ranks;
  std::vector<TransferReport> transfers;
  nlohmann::ordered_json json(const program::ProgramT &program) const;
  std::string text(const program::ProgramT &program) const;
};

Report makeReport(const program::ProgramT &program);
/// 1234567 as "1.18 MiB".
std::string bytesText(uint64_t bytes);
} // namespace hocket::tools
