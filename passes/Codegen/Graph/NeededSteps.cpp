// See NeededSteps.h.
#include "passes/Codegen/Graph/NeededSteps.h"

namespace hocket::codegen {
NeededSteps::NeededSteps(const Graph &graph) {
  for (const Output &output : graph.getOutputs()) {
    add(output.value.step);
    if (output.space == Space::Full)
      written.push_back(output.value.step);
  }
  for (Step *step : all) {
    if (step->kind == Step::Reduce)
      reductions[step->stage - 1].push_back(step);
    if (step->kind == Step::Sum)
      sums.push_back(step);
    lastStage = std::max(lastStage, step->kind == Step::Reduce   ? step->stage - 1
                                    : step->space == Space::Full ? step->stage
                                                                 : 0);
  }
}
void NeededSteps::add(Step *step) {
  if (!seen.insert(step).second)
    return;
  for (Ref operand : step->operands)
    add(operand.step);
  all.push_back(step);
}
int64_t NeededSteps::keptNumbers() const {
  std::map<Step *, int> computed; // in which loop first
  std::set<Step *> kept;
  auto read = [&](auto &&self, Step *step, int stage) -> void {
    if (step->space != Space::Full)
      return;
    auto [known, isNew] = computed.insert({step, stage});
    if (!isNew && known->second < stage)
      kept.insert(step);
    if (isNew)
      for (Ref operand : step->operands)
        self(self, operand.step, stage);
  };
  for (const auto &[stage, steps] : reductions)
    for (Step *step : steps)
      read(read, step->operands[0].step, stage);
  for (Step *step : written)
    read(read, step, lastStage + 1);
  return std::max<int64_t>(static_cast<int64_t>(kept.size()), 1);
}
} // namespace hocket::codegen
