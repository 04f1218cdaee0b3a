// dlopen of the emulator.
#include "runtime/Device/OpenEmulator.h"
#include "runtime/Device/InterfaceHash.h"
#include <cstdlib>
#include <dlfcn.h>
#include <filesystem>
#include <fmt/format.h>
#include <sstream>

namespace hocket::runtime {

namespace fs = std::filesystem;
static constexpr const char *file = "libhocket_emulator.so";

// The folder of the hocket-run that a shell would start; empty where there is none.
static fs::path folderOnPath() {
  const char *path = std::getenv("PATH");
  std::istringstream folders(path ? path : "");
  std::error_code ignored;
  for (std::string folder; std::getline(folders, folder, ':');)
    if (fs::path tool = fs::path(folder) / "hocket-run"; fs::exists(tool, ignored))
      return fs::canonical(tool, ignored).parent_path();
  return {};
}

static std::vector<fs::path> placesOf(const std::string &toolFolder) {
  std::error_code ignored;
  fs::path own = fs::read_symlink("/proc/self/exe", ignored).parent_path();
  std::vector<fs::path> places = {own / file, own / "../lib" / file, own / "../../lib" / file};
  for (const fs::path &folder : {fs::path(toolFolder), folderOnPath()})
    if (!folder.empty())
      places.insert(places.end(), {folder / file, folder / "../lib" / file});
  return places;
}

// Of two versions the virtual functions do not match; none may be called before this is known.
static Status checkVersion(void *library, const std::string &path) {
  auto version = reinterpret_cast<uint64_t (*)()>(dlsym(library, "hocketDeviceInterface"));
  uint64_t found = version ? version() : 0;
  if (found == interfaceHash)
    return {};
  return Error{ErrorKind::Lacking,
               fmt::format("the emulator '{}' is of another version of Hocket than this program (interface {:016x}, "
                           "expected {:016x}); compile the program again with the Hocket that the emulator belongs to",
                           path, found, interfaceHash),
               {}};
}

Result<std::unique_ptr<Device>> openEmulatorDevice(uint64_t seed, bool check, const std::string &toolFolder) {
  void *library = nullptr;
  std::string path = file;
  std::error_code ignored;
  for (const fs::path &place : placesOf(toolFolder))
    if (!library && fs::exists(place, ignored)) {
      path = place.lexically_normal();
      library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
      if (!library)
        return Error{ErrorKind::Lacking, fmt::format("the emulator cannot be opened: {}", dlerror()), {}};
    }
  if (!library)
    library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return Error{ErrorKind::Lacking,
                 fmt::format("the emulator is missing: {} lies neither beside this program nor beside a hocket-run on "
                             "the PATH nor where the loader looks ({})",
                             file, dlerror()),
                 {}};
  if (Status same = checkVersion(library, path); !same)
    return std::move(same.error());
  auto make = reinterpret_cast<Device *(*)(uint64_t, bool)>(dlsym(library, "hocketMakeEmulatorDevice"));
  if (!make)
    return Error{ErrorKind::Lacking, fmt::format("the emulator '{}' makes no device: {}", path, dlerror()), {}};
  return std::unique_ptr<Device>(make(seed, check));
}

} // namespace hocket::runtime
