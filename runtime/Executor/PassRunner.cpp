// See PassRunner.h.
#include "runtime/Executor/PassRunner.h"
#include "runtime/Executor/DeviceStep.h"
#include "runtime/Executor/StepRunner.h"
#include <fmt/format.h>

namespace hocket::runtime {

std::unique_ptr<PassRunner> makePassRunner(RankContext &context, const program::Entry &entry) {
  if (context.device.hostMemory())
    return std::make_unique<StepRunner>(context, entry);
  return std::make_unique<DeviceStep>(context, entry);
}

std::string passText(uint64_t step, uint64_t evaluation) {
  return evaluation ? fmt::format("batch {} of the evaluation after step {}", evaluation, step)
                    : fmt::format("step {}", step);
}

bool onceAStep(const program::Body &body) {
  return body.kind() == program::BodyKind::Begin || body.kind() == program::BodyKind::Update ||
         body.kind() == program::BodyKind::Evaluate;
}

std::string placeText(const RankContext &context, const program::Row &row, uint64_t step, uint64_t evaluation) {
  std::string pass = passText(step, evaluation);
  if (row.kind() != program::RowKind::Body)
    return fmt::format("{}, microbatch {}", pass, row.microbatch());
  const program::Body &body = *context.own.bodies()->Get(row.index());
  if (onceAStep(body))
    return fmt::format("{}, {}", pass, body.name()->string_view());
  return fmt::format("{}, microbatch {}, {}", pass, row.microbatch(), body.name()->string_view());
}

} // namespace hocket::runtime
