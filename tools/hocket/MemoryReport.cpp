// The breakdown of a rank's memory as text and JSON.
#include "tools/hocket/MemoryReport.h"
#include "passes/Step/MemoryBreakdown.h"
#include "tools/hocket/AlikeLines.h"
#include "tools/hocket/StageText.h"
#include <fmt/format.h>
using namespace hocket;
using namespace hocket::tools;
using step::MemoryBreakdown;

static MemoryBreakdown breakdownOf(mlir::ModuleOp module, const RankReport &rank) {
  for (auto program : module.getOps<step::ProgramOp>())
    if (program.getStage() == rank.stage)
      return step::memoryBreakdown(program);
  return {};
}

/// "parameter 1.00 MiB, activation 2.00 MiB"
static std::string classesText(const MemoryBreakdown::Part &part) {
  std::string out;
  for (auto [kind, bytes] : part.bytes)
    out += fmt::format("{}{} {}", out.empty() ? "" : ", ", step::stringifyMemoryClass(kind).str(), bytesText(bytes));
  return out;
}

/// "4.0 %" of what is needed at least.
static std::string overText(int64_t bytes, int64_t least) {
  return least ? fmt::format("{:.1f} % over", 100.0 * double(bytes - least) / double(least)) : "nothing";
}

static std::string textOf(const MemoryBreakdown &memory) {
  AlikeLines<MemoryBreakdown::Part> alike;
  for (const MemoryBreakdown::Part &part : memory.parts) {
    auto [pattern, layer] = withoutLayer(part.layer + ".");
    alike.add(pattern + classesText(part), part, layer, 1);
  }
  std::string out;
  for (auto &line : alike.lines) {
    std::string name = alike.name(line, withoutLayer(line.item.layer + ".").first, false);
    name.pop_back();
    out += fmt::format("  {:<9} {:<14} {}{}\n", out.empty() ? "layers" : "", name.empty() ? "no layer" : name,
                       classesText(line.item), line.count > 1 ? " each" : "");
  }
  out += fmt::format("  {:<9} {} of {}: {} what is busy at once, {} if nothing shared bytes\n", "slots", memory.slots,
                     bytesText(memory.slotBytes), overText(memory.slotBytes, memory.slotBusyBytes),
                     bytesText(memory.slotUnsharedBytes));
  int64_t shared = memory.workspaceBytes - memory.tailBytes;
  out += fmt::format(
      "  {:<9} {}: {} what is busy at once{}; update uses {}, over slots too, and {} behind them{}; "
      "alignment {}\n",
      "workspace", bytesText(shared), overText(shared, memory.workspaceBusyBytes),
      memory.workspacePeak.empty() ? "" : ", in " + memory.workspacePeak, bytesText(memory.updateBytes),
      bytesText(memory.tailBytes),
      memory.tailBytes ? ": " + overText(memory.tailBytes, memory.leastTailBytes) + " what must lie there" : "",
      bytesText(memory.alignmentBytes));
  return out;
}

std::string hocket::tools::breakdownText(mlir::ModuleOp module, const Report &report) {
  std::string out = "\nmemory by layer, a rank\n";
  for (const StageClass &alike : stageClasses(report)) {
    const RankReport &first = *alike.members.front();
    if (report.ranks.size() > 1)
      out += fmt::format(" stage {}{}\n", first.stage,
                         alike.members.size() > 1
                             ? fmt::format(", which stands for {} alike but for slots", alike.members.size())
                             : "");
    out += textOf(breakdownOf(module, first));
  }
  return out;
}

static nlohmann::ordered_json jsonOf(const MemoryBreakdown &memory) {
  nlohmann::ordered_json out;
  out["layers"] = nlohmann::json::array();
  for (const MemoryBreakdown::Part &part : memory.parts) {
    nlohmann::ordered_json classes;
    for (auto [kind, bytes] : part.bytes)
      classes[step::stringifyMemoryClass(kind).str()] = bytes;
    out["layers"].push_back({{"layer", part.layer}, {"bytes_by_class", classes}});
  }
  out["slots"] = {{"count", memory.slots},
                  {"bytes", memory.slotBytes},
                  {"busy_bytes", memory.slotBusyBytes},
                  {"unshared_bytes", memory.slotUnsharedBytes}};
  out["workspace"] = {{"bytes", memory.workspaceBytes}, {"busy_bytes", memory.workspaceBusyBytes},
                      {"peak", memory.workspacePeak},   {"update_bytes", memory.updateBytes},
                      {"tail_bytes", memory.tailBytes}, {"least_tail_bytes", memory.leastTailBytes}};
  out["alignment_bytes"] = memory.alignmentBytes;
  return out;
}

void hocket::tools::addBreakdowns(mlir::ModuleOp module, const Report &report, nlohmann::ordered_json &out) {
  for (size_t i = 0; i < report.ranks.size(); ++i)
    out["ranks"][i]["memory"] = jsonOf(breakdownOf(module, report.ranks[i]));
}
