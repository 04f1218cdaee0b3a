// NCCL: opened and new enough.
#include "runtime/Comm/Nccl/Nccl.h"
#include <fmt/format.h>

namespace hocket::runtime::nccl {

static constexpr std::string_view what = "NCCL", need = "NCCL 2.18 or later";

std::vector<std::string> Library::symbols() { return {HOCKET_NCCL_FUNCTIONS(HOCKET_NAME)}; }

Result<Library> Library::open(const char *file) {
  Library table;
  const cuda::Symbol symbols[] = {HOCKET_NCCL_FUNCTIONS(HOCKET_SYMBOL)};
  const char *files[] = {file};
  if (Status opened = cuda::openLibrary(files, symbols, what, need); !opened)
    return std::move(opened.error());
  int version = 0;
  if (Status asked = table.check(table.getVersion(&version), "ncclGetVersion"); !asked)
    return std::move(asked.error());
  if (version < leastVersion) // 21805 is 2.18.5
    return Error{ErrorKind::Lacking,
                 fmt::format("{} is too old: it is {}.{}.{}; {} is needed", what, version / 10000, version / 100 % 100,
                             version % 100, need),
                 {}};
  return table;
}

Status Library::check(int outcome, std::string_view call) const {
  if (outcome == success || outcome == inProgress)
    return {};
  const char *text = getErrorString(outcome), *last = getLastError(nullptr);
  std::string message = fmt::format("{}: {}", call, text ? text : std::to_string(outcome));
  if (last && *last)
    message += fmt::format(": {}", last);
  return Error{outcome == remoteError ? ErrorKind::Aborted : ErrorKind::Invalid, std::move(message), {}};
}

int typeOf(ElementType type) {
  constexpr int types[] = {7, 8, 9, 6, 2, 4}; // f32 f64 bf16 f16 i32 i64
  return types[static_cast<int>(type)];
}

int operationOf(Reduction reduction) {
  constexpr int operations[] = {0, 2, 3}; // sum max min
  return operations[static_cast<int>(reduction)];
}

} // namespace hocket::runtime::nccl
