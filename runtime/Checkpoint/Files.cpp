// Durable files; contracts in Files.h.
#include "runtime/Checkpoint/Files.h"
#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

namespace hocket::checkpoint {

using runtime::Error;
using runtime::ErrorKind;
using runtime::Result;
using runtime::Status;

Error systemError(std::string message, int error) {
  bool full = error == ENOSPC || error == EDQUOT || error == EFBIG || error == EIO || error == EMFILE ||
              error == ENFILE || error == ENOMEM;
  return {full ? ErrorKind::Lacking : ErrorKind::Invalid, fmt::format("{}: {}", message, std::strerror(error)), {}};
}

static std::string parentOf(const std::string &path) {
  std::string parent = std::filesystem::path(path).parent_path();
  return parent.empty() ? "." : parent;
}

// ---- new files ------------------------------------------------------------------------------------------------------
Result<NewFile> NewFile::create(const std::string &path, uint64_t expectedBytes, Progress progress) {
  NewFile result;
  result.path = path;
  result.expected = expectedBytes;
  result.progress = std::move(progress);
  result.file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666);
  if (result.file < 0)
    return systemError(fmt::format("cannot make '{}'", path), errno);
  return result;
}

NewFile::NewFile(NewFile &&other) noexcept
    : path(std::move(other.path)), file(std::exchange(other.file, -1)), expected(other.expected),
      written(other.written), synced(other.synced), sum(other.sum), progress(std::move(other.progress)) {}

NewFile::~NewFile() {
  if (file < 0)
    return;
  ::close(file);
  ::unlink(path.c_str());
}

Error NewFile::failure(const char *what, int error) const {
  Error result =
      systemError(fmt::format("cannot {} '{}' after {} of its {} bytes", what, path, written, expected), error);
  if (std::optional<uint64_t> left = freeBytes(parentOf(path)))
    result.message += fmt::format("; {} more are needed, {} are free on its file system",
                                  expected - std::min(expected, written), *left);
  return result;
}

Status NewFile::write(std::span<const uint8_t> bytes) {
  constexpr size_t piece = 1 << 20, between = 32 << 20; // bytes of one write, and from one sync to the next
  while (!bytes.empty()) {
    ssize_t count = ::write(file, bytes.data(), std::min(bytes.size(), piece));
    if (count < 0 && errno == EINTR)
      continue;
    if (count < 0)
      return failure("write", errno);
    auto done = bytes.first(static_cast<size_t>(count));
    sum.add(done);
    written += done.size();
    bytes = bytes.subspan(done.size());
    if (written - synced >= between) {
      if (::fdatasync(file) != 0)
        return failure("write", errno);
      synced = written;
    }
    if (progress)
      progress();
  }
  return {};
}

Status NewFile::finish() {
  if (::fsync(file) != 0)
    return failure("write", errno);
  int descriptor = std::exchange(file, -1);
  if (::close(descriptor) == 0)
    return {};
  int error = errno;
  ::unlink(path.c_str());
  return failure("write", error);
}

// ---- reading --------------------------------------------------------------------------------------------------------
/// A regular file, opened without waiting for anyone, and its size.
static Result<std::pair<int, uint64_t>> openRegular(const std::string &path) {
  int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0)
    return systemError(fmt::format("cannot open '{}'", path), errno);
  struct stat info{};
  if (::fstat(file, &info) == 0 && S_ISREG(info.st_mode))
    return std::pair(file, static_cast<uint64_t>(info.st_size));
  ::close(file);
  return Error{ErrorKind::Invalid, fmt::format("'{}' is not a regular file", path), {}};
}

Result<std::unique_ptr<MappedFile>> MappedFile::open(const std::string &path) {
  Result<std::pair<int, uint64_t>> opened = openRegular(path);
  if (!opened)
    return std::move(opened.error());
  std::unique_ptr<MappedFile> result(new MappedFile);
  result->size = opened->second;
  void *at = result->size ? ::mmap(nullptr, result->size, PROT_READ, MAP_SHARED, opened->first, 0) : nullptr;
  int error = errno;
  ::close(opened->first);
  if (at == MAP_FAILED)
    return systemError(fmt::format("cannot map '{}'", path), error);
  result->data = static_cast<const uint8_t *>(at);
  return result;
}

MappedFile::~MappedFile() {
  if (data)
    ::munmap(const_cast<uint8_t *>(data), size);
}

void MappedFile::forget(uint64_t begin, uint64_t end) const {
  static const uint64_t page = static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
  begin = begin / page * page;
  if (begin < end && data)
    ::madvise(const_cast<uint8_t *>(data) + begin, end - begin, MADV_DONTNEED);
}

/// Calls `use` with the file's content, piece by piece.
static Status readPieces(const std::string &path, const Progress &progress,
                         const std::function<void(std::span<const uint8_t>)> &use) {
  Result<std::pair<int, uint64_t>> opened = openRegular(path);
  if (!opened)
    return std::move(opened.error());
  std::vector<uint8_t> buffer(1 << 20);
  ssize_t count;
  while ((count = ::read(opened->first, buffer.data(), buffer.size())) > 0 || (count < 0 && errno == EINTR)) {
    if (count > 0)
      use(std::span(buffer).first(static_cast<size_t>(count)));
    if (progress)
      progress();
  }
  int error = errno;
  ::close(opened->first);
  if (count < 0)
    return systemError(fmt::format("cannot read '{}'", path), error);
  return {};
}

Result<std::string> readText(const std::string &path, uint64_t mostBytes) {
  std::optional<uint64_t> size = fileBytes(path);
  if (size && *size > mostBytes)
    return Error{ErrorKind::Invalid, fmt::format("'{}' has {} bytes, expected at most {}", path, *size, mostBytes), {}};
  std::string result;
  Status read = readPieces(path, {}, [&](std::span<const uint8_t> bytes) {
    result.append(reinterpret_cast<const char *>(bytes.data()), bytes.size());
  });
  if (!read)
    return std::move(read.error());
  return result;
}

Result<uint64_t> checksumOf(const std::string &path, const Progress &progress) {
  program::Checksum sum;
  if (Status read = readPieces(path, progress, [&](std::span<const uint8_t> bytes) { sum.add(bytes); }); !read)
    return std::move(read.error());
  return sum.value();
}

std::optional<uint64_t> fileBytes(const std::string &path) {
  struct stat info{};
  if (::stat(path.c_str(), &info) != 0 || !S_ISREG(info.st_mode))
    return {};
  return static_cast<uint64_t>(info.st_size);
}

// ---- folders --------------------------------------------------------------------------------------------------------
Status syncFolder(const std::string &path) {
  int folder = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  bool synced = folder >= 0 && (::fsync(folder) == 0 || errno == EINVAL); // EINVAL: a file system without this
  int error = errno;
  if (folder >= 0)
    ::close(folder);
  if (synced)
    return {};
  return systemError(fmt::format("cannot sync folder '{}'", path), error);
}

Status makeFolder(const std::string &path) {
  if (::mkdir(path.c_str(), 0777) == 0 || (errno == EEXIST && std::filesystem::is_directory(path)))
    return {};
  return systemError(fmt::format("cannot make folder '{}'", path), errno);
}

Status removeFolder(const std::string &path) {
  std::error_code error;
  std::filesystem::remove_all(path, error);
  if (!error)
    return {};
  return systemError(fmt::format("cannot remove folder '{}'", path), error.value());
}

Status renameFolder(const std::string &from, const std::string &to) {
  if (::rename(from.c_str(), to.c_str()) == 0)
    return {};
  return systemError(fmt::format("cannot rename '{}' to '{}'", from, to), errno);
}

std::optional<uint64_t> freeBytes(const std::string &path) {
  struct statvfs info{};
  if (::statvfs(path.c_str(), &info) != 0)
    return {};
  return static_cast<uint64_t>(info.f_bavail) * info.f_frsize;
}

} // namespace hocket::checkpoint
