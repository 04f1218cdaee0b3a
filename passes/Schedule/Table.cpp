// Names of rows.
#include "passes/Schedule/Table.h"

#include <fmt/format.h>

namespace hocket::schedule {

const char *name(BodyKind kind) {
  static const char *const names[bodyKinds] = {"begin",     "forward", "backward", "weight_grad",
                                               "recompute", "update",  "evaluate"};
  return names[unsigned(kind)];
}

const char *name(Values values) { return values == Values::Activation ? "activation" : "gradient"; }

std::string describe(const Tables &tables, const Row &row) {
  auto chunk = [&](unsigned chunk) { return tables.chunks > 1 ? fmt::format(" (chunk {})", chunk) : std::string(); };
  if (row.kind == RowKind::Body) {
    if (oncePerStep(bodyKind(row)))
      return name(bodyKind(row));
    return fmt::format("{} of microbatch {}{}", name(bodyKind(row)), row.microbatch, chunk(bodyChunk(row)));
  }
  const Message &message = tables.messages[row.index];
  if (row.kind == RowKind::Send)
    return fmt::format("send of the {} of microbatch {}{} to stage {}", name(message.values), row.microbatch,
                       chunk(message.fromChunk), message.to);
  return fmt::format("receive of the {} of microbatch {}{} from stage {}", name(message.values), row.microbatch,
                     chunk(message.toChunk), message.from);
}

} // namespace hocket::schedule
