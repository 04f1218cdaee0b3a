// Contracts in MappedFile.h.
#include "runtime/Data/MappedFile.h"
#include <cerrno>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace hocket::runtime {

Result<MappedFile> MappedFile::open(const std::string &path, const std::string &what) {
  MappedFile result;
  result.name = path;
  // A pipe without a writer must not hold us up.
  int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0)
    return invalid(fmt::format("cannot open {} '{}': {}", what, path, std::strerror(errno)));
  struct stat info{};
  bool regular = ::fstat(file, &info) == 0 && S_ISREG(info.st_mode);
  result.bytes = regular ? static_cast<uint64_t>(info.st_size) : 0;
  void *at = result.bytes ? ::mmap(nullptr, result.bytes, PROT_READ, MAP_SHARED, file, 0) : nullptr;
  int error = errno;
  ::close(file);
  if (!regular)
    return invalid(fmt::format("{} '{}' is not a regular file", what, path));
  if (at == MAP_FAILED)
    return invalid(fmt::format("cannot map {} '{}': {}", what, path, std::strerror(error)));
  result.at = static_cast<const unsigned char *>(at);
  return result;
}

MappedFile &MappedFile::operator=(MappedFile &&other) noexcept {
  std::swap(name, other.name);
  std::swap(at, other.at);
  std::swap(bytes, other.bytes);
  return *this;
}

MappedFile::~MappedFile() {
  if (at)
    ::munmap(const_cast<unsigned char *>(at), bytes);
}

void MappedFile::expectRandomReads() const {
  if (at)
    ::madvise(const_cast<unsigned char *>(at), bytes, MADV_RANDOM);
}

} // namespace hocket::runtime
