// Memory by class and by layer in hocket explain: layers that are alike are one line.
#pragma once
#include "tools/hocket/Report.h"

namespace hocket::tools {
/// "memory by layer": what layers hold, slots, and workspace, with what packing costs; of each class of stages alike
/// the first. Stages that differ stand apart, so the most that a rank needs is that of the stage that needs most.
std::string breakdownText(mlir::ModuleOp module, const Report &report);
/// Adds ranks[].memory to the JSON of the report: {"layers": [{"layer", "bytes_by_class"}], "slots": …, "workspace": …,
/// "alignment_bytes"}.
void addBreakdowns(mlir::ModuleOp module, const Report &report, nlohmann::ordered_json &out);
} // namespace hocket::tools
