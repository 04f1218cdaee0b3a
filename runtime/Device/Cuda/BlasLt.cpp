// cublasLt: opened and new enough.
#include "runtime/Device/Cuda/BlasLt.h"
#include <fmt/format.h>

namespace hocket::runtime::cuda {

static constexpr std::string_view what = "cublasLt", need = "cublasLt of CUDA 12.0 or later";

std::vector<std::string> BlasLt::symbols() { return {HOCKET_BLASLT_FUNCTIONS(HOCKET_NAME)}; }

Result<BlasLt> BlasLt::open() {
  const char *files[] = {"libcublasLt.so.13", "libcublasLt.so.12", "libcublasLt.so"};
  return open(files);
}

Result<BlasLt> BlasLt::open(std::span<const char *const> files) {
  BlasLt table;
  const Symbol symbols[] = {HOCKET_BLASLT_FUNCTIONS(HOCKET_SYMBOL)};
  if (Status opened = openLibrary(files, symbols, what, need); !opened)
    return std::move(opened.error());
  // 120103 is 12.1.3
  if (size_t version = table.getVersion(); version < leastBlasLt)
    return Error{
        ErrorKind::Lacking,
        fmt::format("{} is too old: it is {}.{}; {} is needed", what, version / 10000, version / 100 % 100, need),
        {}};
  return table;
}

Status BlasLt::check(int outcome, std::string_view call) const {
  if (outcome == success)
    return {};
  const char *text = getStatusString(outcome);
  return Error{ErrorKind::Invalid, fmt::format("{}: {}", call, text ? text : std::to_string(outcome)), {}};
}

} // namespace hocket::runtime::cuda
