// dlopen of the emulator.
#include "runtime/Device/OpenEmulator.h"
#include <dlfcn.h>
#include <filesystem>
#include <fmt/format.h>

namespace hocket::runtime {

Result<std::unique_ptr<Device>> openEmulatorDevice(uint64_t seed, bool check, const std::string &toolFolder) {
  constexpr const char *file = "libhocket_emulator.so";
  std::error_code ignored;
  std::filesystem::path own = std::filesystem::read_symlink("/proc/self/exe", ignored).parent_path();
  std::filesystem::path tools = toolFolder.empty() ? own : std::filesystem::path(toolFolder);
  void *library = nullptr;
  for (const std::filesystem::path &place : {own / file, own / "../lib" / file, own / "../../lib" / file, tools / file,
                                             tools / "../lib" / file, std::filesystem::path(file)})
    if (!library && (!place.has_parent_path() || std::filesystem::exists(place, ignored)))
      library = dlopen(place.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return Error{ErrorKind::Lacking, fmt::format("no emulator: {}", dlerror()), {}};
  auto make = reinterpret_cast<Device *(*)(uint64_t, bool)>(dlsym(library, "hocketMakeEmulatorDevice"));
  if (!make)
    return Error{ErrorKind::Lacking, fmt::format("{} is of another version of Hocket", file), {}};
  return std::unique_ptr<Device>(make(seed, check));
}

} // namespace hocket::runtime
