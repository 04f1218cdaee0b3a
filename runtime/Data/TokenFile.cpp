// Contracts in TokenFile.h.
#include "runtime/Data/TokenFile.h"
#include <algorithm>
#include <fmt/format.h>
#include <limits>
#include <type_traits>

namespace hocket::runtime {

Result<TokenFile> TokenFile::open(const std::string &path, TokenType type) {
  Result<MappedFile> mapped = MappedFile::open(path, "data file");
  if (!mapped)
    return std::move(mapped.error());
  if (mapped->sizeBytes() % sizeBytes(type))
    return invalid(fmt::format("data file '{}' has {} bytes, expected a multiple of {} for {} tokens", path,
                               mapped->sizeBytes(), sizeBytes(type), toString(type)));
  return TokenFile(std::move(*mapped), type);
}

// Calls body with a number of the C++ type that the ids have.
template <class Fn> static auto withType(TokenType type, Fn body) {
  switch (type) {
  case TokenType::U8:
    return body(uint8_t());
  case TokenType::U16:
    return body(uint16_t());
  case TokenType::U32:
    return body(uint32_t());
  case TokenType::I8:
    return body(int8_t());
  case TokenType::I16:
    return body(int16_t());
  case TokenType::I32:
    return body(int32_t());
  case TokenType::I64:
    break;
  }
  return body(int64_t());
}

int64_t TokenFile::token(uint64_t index) const {
  return withType(
      kind, [&](auto number) { return static_cast<int64_t>(file.read<decltype(number)>(index * sizeof number)); });
}

Status TokenFile::checkVocabulary(uint64_t vocabulary) const {
  if (vocabulary <= idsOf(kind) || sizeBytes(kind) == 1)
    return {};
  return invalid(fmt::format("data file '{}' holds {} ids, which end at {}: {} ids of the vocabulary of {} cannot be "
                             "written in it, expected a vocabulary of at most {} or ids of a wider type",
                             path(), toString(kind), idsOf(kind) - 1, vocabulary - idsOf(kind), vocabulary,
                             idsOf(kind)));
}

// The first of tokens [begin, end) that is not in [0, limit); end if there is none. As unsigned numbers, negative ones
// are large.
template <class T>
static uint64_t firstOutside(const unsigned char *data, uint64_t begin, uint64_t end, uint64_t limit) {
  using Unsigned = std::make_unsigned_t<T>;
  const auto *tokens = reinterpret_cast<const Unsigned *>(data); // a mapping starts at a page
  constexpr uint64_t block = 4096;
  for (uint64_t at = begin; at < end; at += block) {
    uint64_t stop = std::min(end, at + block);
    Unsigned most = 0;
    for (uint64_t i = at; i < stop; ++i)
      most = std::max(most, tokens[i]);
    if (most >= limit)
      return static_cast<uint64_t>(
          std::find_if(tokens + at, tokens + stop, [&](Unsigned token) { return token >= limit; }) - tokens);
  }
  return end;
}

Status TokenFile::checkIds(uint64_t begin, uint64_t end, uint64_t vocabulary) const {
  uint64_t at = withType(kind, [&](auto number) {
    using T = decltype(number);
    uint64_t limit = std::min(vocabulary, idsOf(kind));
    if (std::is_unsigned_v<T> && limit == idsOf(kind))
      return end; // there is no other id
    return firstOutside<T>(file.data(), begin, end, limit);
  });
  if (at == end)
    return {};
  return invalid(fmt::format("data file '{}' holds token id {} at byte offset {}, expected ids {}below the vocabulary "
                             "size {}",
                             path(), token(at), at * sizeBytes(kind), token(at) < 0 ? "from 0 on and " : "",
                             vocabulary));
}

void TokenFile::copy(uint64_t begin, std::span<int32_t> to) const {
  withType(kind, [&](auto number) {
    const auto *tokens = reinterpret_cast<const decltype(number) *>(file.data());
    std::transform(tokens + begin, tokens + begin + to.size(), to.begin(),
                   [](auto token) { return static_cast<int32_t>(token); });
    return 0;
  });
}

} // namespace hocket::runtime
