// Mapping and reading of token files.
#include "runtime/Data/TokenFile.h"
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace hocket::runtime {

std::string_view toString(TokenType type) {
  constexpr std::string_view names[] = {"u8", "u16", "u32"};
  return names[static_cast<int>(type)];
}

std::optional<TokenType> parseTokenType(std::string_view text) {
  for (TokenType type : {TokenType::U8, TokenType::U16, TokenType::U32})
    if (text == toString(type))
      return type;
  return {};
}

static Error invalid(std::string message) { return {ErrorKind::Invalid, std::move(message), {}}; }

Result<TokenFile> TokenFile::open(const std::string &path, TokenType type) {
  TokenFile result;
  result.name = path;
  result.kind = type;
  int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0)
    return invalid(fmt::format("cannot open data file '{}': {}", path, std::strerror(errno)));
  struct stat info{};
  bool regular = ::fstat(file, &info) == 0 && S_ISREG(info.st_mode);
  result.bytes = regular ? static_cast<uint64_t>(info.st_size) : 0;
  void *at = result.bytes ? ::mmap(nullptr, result.bytes, PROT_READ, MAP_SHARED, file, 0) : nullptr;
  int error = errno;
  ::close(file);
  if (!regular)
    return invalid(fmt::format("data file '{}' is not a regular file", path));
  if (at == MAP_FAILED)
    return invalid(fmt::format("cannot map data file '{}': {}", path, std::strerror(error)));
  result.data = static_cast<const unsigned char *>(at);
  if (result.bytes % sizeBytes(type))
    return invalid(fmt::format("data file '{}' has {} bytes, expected a multiple of {} for {} tokens", path,
                               result.bytes, sizeBytes(type), toString(type)));
  return result;
}

TokenFile::TokenFile(TokenFile &&other) noexcept { *this = std::move(other); }

TokenFile &TokenFile::operator=(TokenFile &&other) noexcept {
  std::swap(name, other.name);
  std::swap(kind, other.kind);
  std::swap(data, other.data);
  std::swap(bytes, other.bytes);
  return *this;
}

TokenFile::~TokenFile() {
  if (data)
    ::munmap(const_cast<unsigned char *>(data), bytes);
}

uint32_t TokenFile::token(uint64_t index) const {
  uint32_t result = 0;
  std::memcpy(&result, data + index * sizeBytes(kind), sizeBytes(kind));
  return result;
}

template <class T> static uint64_t firstAbove(const unsigned char *data, uint64_t begin, uint64_t end, uint64_t limit) {
  const T *tokens = reinterpret_cast<const T *>(data); // a mapping starts at a page
  constexpr uint64_t block = 4096;
  for (uint64_t at = begin; at < end; at += block) {
    uint64_t stop = std::min(end, at + block);
    T most = 0;
    for (uint64_t i = at; i < stop; ++i)
      most = std::max(most, tokens[i]);
    if (most >= limit)
      return static_cast<uint64_t>(std::find_if(tokens + at, tokens + stop, [&](T t) { return t >= limit; }) - tokens);
  }
  return end;
}

Status TokenFile::checkIds(uint64_t begin, uint64_t end, uint64_t vocabulary) const {
  if (vocabulary >> (8 * sizeBytes(kind)))
    return {}; // every id of this type is below it
  uint64_t at = kind == TokenType::U8    ? firstAbove<uint8_t>(data, begin, end, vocabulary)
                : kind == TokenType::U16 ? firstAbove<uint16_t>(data, begin, end, vocabulary)
                                         : firstAbove<uint32_t>(data, begin, end, vocabulary);
  if (at == end)
    return {};
  return invalid(
      fmt::format("data file '{}' holds token id {} at byte offset {}, expected ids below the vocabulary size {}", name,
                  token(at), at * sizeBytes(kind), vocabulary));
}

} // namespace hocket::runtime
