// Names and sizes that all backends share.
#include "runtime/Comm/Communicator.h"
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace hocket::runtime {

size_t sizeBytes(ElementType type) {
  switch (type) {
  case ElementType::BF16:
  case ElementType::F16:
    return 2;
  case ElementType::F32:
  case ElementType::I32:
    return 4;
  case ElementType::F64:
  case ElementType::I64:
    break;
  }
  return 8;
}

std::string_view toString(ElementType type) {
  constexpr std::string_view names[] = {"f32", "f64", "bf16", "f16", "i32", "i64"};
  return names[static_cast<int>(type)];
}

std::string_view toString(Reduction reduction) {
  constexpr std::string_view names[] = {"sum", "max", "min"};
  return names[static_cast<int>(reduction)];
}

std::string Communicator::describe() const {
  return fmt::format("communicator {} \"{}\" of ranks {}", members.id, members.name, fmt::join(members.ranks, ", "));
}

Status shift(Communicator &on, const void *in, void *out, size_t count, ElementType type, When when) {
  return on.shiftRing(in, out, count, type, when);
}

Status Communicator::shiftRing(const void *in, void *out, size_t count, ElementType type, When when) {
  int before = (rank() + size() - 1) % size(), next = (rank() + 1) % size();
  Result<std::unique_ptr<Request>> received = receive(out, count, type, before, when.stream);
  if (!received)
    return std::move(received.error());
  Result<std::unique_ptr<Request>> sent = send(in, count, type, next, when.stream);
  if (!sent)
    return std::move(sent.error());
  if (Status done = (*received)->wait(when.deadline); !done)
    return done;
  return (*sent)->wait(when.deadline);
}

} // namespace hocket::runtime
