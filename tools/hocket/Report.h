// What a program will do, counted from the program file itself: who holds what, who sends what to whom and why.
#pragma once
#include "mlir/IR/BuiltinOps.h"
#include "runtime/Program/program_generated.h"
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace hocket::tools {

/// What a rank's process needs beside its arena: code, heap, threads, oneDNN's packing. Measured as proportional set
/// size less the plan: 8 MiB a rank of gpt-bible on 8 ranks, 15 MiB on one with 2 threads, 28 MiB for GPT-2 124M.
inline constexpr uint64_t libraryBytes = 32 << 20;

/// One parameter on the ranks of a stage.
struct HoldingReport {
  std::string name;
  std::vector<uint64_t> shape, local, stateLocal; ///< whole; what a rank holds of it; of its optimizer state
  std::string split, stateSplit;                  ///< "dim 0 over tp", "" for whole
  /// "bf16", … of the parameter, and of its moments, master and accumulators ("" where there are none), and of the copy
  /// to compute with ("" where that is the parameter itself).
  std::string type = "", moments = "", master = "", accumulators = "", compute = "";
};

/// Ranks that talk together: "tp" and 0 1.
struct GroupReport {
  std::string axes;
  std::vector<uint32_t> ranks;
};

/// All ranks of one stage do the same; `coordinates` is the first of them, or the one that was asked for.
struct RankReport {
  std::string coordinates;
  std::optional<uint32_t> rank; ///< the one that was asked for
  uint32_t stage = 0, ranks = 0;
  std::string layers;
  uint64_t peakBytes = 0; ///< of the device
  std::map<std::string, uint64_t> bytesByClass;
  uint64_t hostBytes = 0; ///< for what is offloaded
  std::map<std::string, uint64_t> hostBytesByClass;
  std::vector<GroupReport> groups; ///< of the first rank
  std::vector<HoldingReport> holdings;
  std::string order; ///< "begin F0 F1 B0 F2 B1 … update"
};

/// One kind of transfer of a step, on every rank of its stage. In order of the step: begin, forward, backward, update.
struct TransferReport {
  uint32_t stage = 0;
  std::string phase, op, axes, cause, path, source;
  uint64_t bytes = 0; ///< of the whole value that is reduced or gathered, or of what is sent
  uint64_t sent = 0;  ///< what one rank sends for it (nothing where it offloads to its own host or fetches from there):
                      ///< all_reduce 2(n-1)/n, reduce_scatter and all_gather (n-1)/n of bytes, shift all of them
  uint64_t count = 0; ///< a step
  uint64_t ranks = 0; ///< n that take part
  std::string factor = ""; ///< of bytes that is sent: "2(n-1)/n"; "1" and "0" for messages
  std::string remedy = ""; ///< what would remove it; "" where that is not known
  std::string stream = ""; ///< that it runs on, beside computing; "" where computing waits for it
  bool implicit = false;   ///< no tactic asks for it (passes/Dist/PlannedTransfers.h)
};

/// How many ranks share what, where a plan splits experts; see ExpertGroups.h.
struct ExpertReport {
  std::string axes;
  int64_t world = 1, tp = 1, pp = 1, cp = 1, dp = 1, rest = 1, etp = 1, ep = 1, edp = 1, copies = 1;
};

struct Report {
  std::optional<ExpertReport> experts;
  std::vector<RankReport> ranks;
  std::vector<TransferReport> transfers;
};

/// Of all stages, or of one rank.
Report makeReport(const program::ProgramT &program, std::optional<uint32_t> rank = {});
nlohmann::ordered_json reportJson(const Report &report, const program::ProgramT &program);
/// For people: stages that are alike are one block, layers that are alike one line.
std::string reportText(const Report &report, const program::ProgramT &program);
/// Fills in what the program file does not say, of which type accumulators and copies to compute with are: from the
/// planned step programs of which the program file was made.
void addTypesFrom(mlir::ModuleOp module, Report &report);
/// AllReduce as "all_reduce".
std::string snakeCase(const char *name);
/// 1234567 as "1.18 MiB".
std::string bytesText(uint64_t bytes);
} // namespace hocket::tools
