// A regular file, memory-mapped to be read.
#ifndef HOCKET_RUNTIME_DATA_MAPPEDFILE_H
#define HOCKET_RUNTIME_DATA_MAPPEDFILE_H

#include "runtime/Program/Result.h"
#include <cstdint>
#include <cstring>
#include <string>

namespace hocket::runtime {

class MappedFile {
public:
  // `what` names the file's role in messages ("data file"). Fails (Invalid) where it cannot be read or is not a regular
  // file: a folder, a pipe or a device has no length to count samples in.
  static Result<MappedFile> open(const std::string &path, const std::string &what);
  MappedFile(MappedFile &&other) noexcept { *this = std::move(other); }
  MappedFile &operator=(MappedFile &&other) noexcept;
  ~MappedFile();

  const std::string &path() const { return name; }
  uint64_t sizeBytes() const { return bytes; }
  const unsigned char *data() const { return at; } // starts at a page; null where the file is empty
  // A number of the file, wherever it lies; offset + sizeof(T) <= sizeBytes().
  template <class T> T read(uint64_t offset) const {
    T value;
    std::memcpy(&value, at + offset, sizeof value);
    return value;
  }

  // Reads will come in no order (see madvise's MADV_RANDOM): the kernel then fetches what is asked for, not 128 KiB
  // around it.
  void expectRandomReads() const;

private:
  MappedFile() = default;
  std::string name;
  const unsigned char *at = nullptr;
  uint64_t bytes = 0;
};

} // namespace hocket::runtime
#endif
