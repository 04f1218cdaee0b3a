// Files that must survive a crash: written once, synced, and complete or gone. Every error names the file and what the
// system said; of a full disk also how much is missing.
#ifndef HOCKET_RUNTIME_CHECKPOINT_FILES_H
#define HOCKET_RUNTIME_CHECKPOINT_FILES_H

#include "runtime/Program/Checksum.h"
#include "runtime/Program/Result.h"
#include <functional>
#include <memory>
#include <optional>

namespace hocket::checkpoint {

// Called now and then during long work, so that a watchdog sees that it goes on. May be empty.
using Progress = std::function<void()>;

// A new file; removed again unless `finish` was successful. What is written reaches the disk piece by piece, so that no
// single call takes long.
class NewFile {
public:
  // Fails where the path exists already. `expectedBytes`: of the whole file, for messages.
  static runtime::Result<NewFile> create(const std::string &path, uint64_t expectedBytes, Progress progress);
  NewFile(NewFile &&other) noexcept;
  NewFile &operator=(NewFile &&) = delete;
  ~NewFile();

  runtime::Status write(std::span<const uint8_t> bytes);
  // The content is on the disk when it returns.
  runtime::Status finish();
  uint64_t bytes() const { return written; }
  uint64_t checksum() const { return sum.value(); }

private:
  NewFile() = default;
  runtime::Error failure(const char *what, int error) const;
  std::string path;
  int file = -1;
  uint64_t expected = 0, written = 0, synced = 0;
  program::Checksum sum;
  Progress progress;
};

// A file in memory, read only.
class MappedFile {
public:
  static runtime::Result<std::unique_ptr<MappedFile>> open(const std::string &path);
  MappedFile(const MappedFile &) = delete;
  ~MappedFile();
  std::span<const uint8_t> bytes() const { return {data, size}; }
  // Bytes [begin, end) are not needed for now: their memory may go.
  void forget(uint64_t begin, uint64_t end) const;

private:
  MappedFile() = default;
  const uint8_t *data = nullptr;
  uint64_t size = 0;
};

// The text of a file of at most `mostBytes`.
runtime::Result<std::string> readText(const std::string &path, uint64_t mostBytes);
// The checksum of a file's content, read in pieces.
runtime::Result<uint64_t> checksumOf(const std::string &path, const Progress &progress);
// Size of a regular file; nothing where there is none.
std::optional<uint64_t> fileBytes(const std::string &path);

// Makes the names in a folder durable.
runtime::Status syncFolder(const std::string &path);
// Makes one folder; it is no fault if it exists. Removes one with its files; it is no fault if there is none.
runtime::Status makeFolder(const std::string &path);
runtime::Status removeFolder(const std::string &path);
runtime::Status renameFolder(const std::string &from, const std::string &to);

// Bytes that may still be written to the file system of a path; nothing where it cannot be told.
std::optional<uint64_t> freeBytes(const std::string &path);

// ": No space left on device" and the like; Lacking where this machine is at fault (full, quota, too large), else
// Invalid.
runtime::Error systemError(std::string message, int error);

} // namespace hocket::checkpoint
#endif
