// dlopen and dlsym, with words for what fails.
#include "runtime/Device/Cuda/Library.h"
#include <dlfcn.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace hocket::runtime::cuda {

Status openLibrary(std::span<const char *const> files, std::span<const Symbol> symbols, std::string_view what,
                   std::string_view need) {
  void *library = nullptr;
  std::string why, found;
  for (const char *file : files) {
    library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (library) {
      found = file;
      break;
    }
    const char *said = dlerror();
    why += fmt::format("{}{}", why.empty() ? "" : "; ", said ? said : file);
  }
  if (!library)
    return Error{ErrorKind::Lacking, fmt::format("{} is missing ({}); {} is needed", what, why, need), {}};
  std::vector<std::string> missing;
  for (const Symbol &symbol : symbols) {
    *symbol.place = dlsym(library, symbol.name);
    if (!*symbol.place)
      missing.push_back(symbol.name);
  }
  if (!missing.empty())
    return Error{ErrorKind::Lacking,
                 fmt::format("{} is too old: {} lacks {}; {} is needed", what, found, fmt::join(missing, ", "), need),
                 {}};
  return {};
}

} // namespace hocket::runtime::cuda
