// Names of rows.
#include "passes/Schedule/Table.h"

#include <charconv>
#include <fmt/format.h>

namespace hocket::schedule {

const char *name(BodyKind kind) {
  static const char *const names[bodyKinds] = {"begin",  "forward",  "backward",       "weight_grad",      "recompute",
                                               "update", "evaluate", "final_backward", "final_weight_grad"};
  return names[unsigned(kind)];
}

const char *name(Values values) { return values == Values::Activation ? "activation" : "gradient"; }

std::string name(const Message &message) {
  return fmt::format("{} {}.{} -> {}.{}", name(message.values), message.from, message.fromChunk, message.to,
                     message.toChunk);
}

std::optional<Message> parseMessage(std::string_view text) {
  Message message;
  auto word = [&](std::string_view expected) {
    bool there = text.starts_with(expected);
    text.remove_prefix(there ? expected.size() : 0);
    return there;
  };
  auto number = [&](auto &value) {
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    text.remove_prefix(end - text.data());
    return error == std::errc();
  };
  message.values = text.starts_with(name(Values::Gradient)) ? Values::Gradient : Values::Activation;
  bool read = word(name(message.values)) && word(" ") && number(message.from) && word(".") &&
              number(message.fromChunk) && word(" -> ") && number(message.to) && word(".") && number(message.toChunk) &&
              text.empty();
  return read ? std::optional(message) : std::nullopt;
}

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
