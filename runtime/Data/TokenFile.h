// A flat file of token ids, memory-mapped: u8 (the default), little-endian u16 or u32.
#ifndef HOCKET_RUNTIME_DATA_TOKENFILE_H
#define HOCKET_RUNTIME_DATA_TOKENFILE_H

#include "runtime/Program/Result.h"
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace hocket::runtime {

enum class TokenType : uint8_t { U8, U16, U32 };
std::string_view toString(TokenType type);                      // "u8"
std::optional<TokenType> parseTokenType(std::string_view text); // "u16" -> U16; nothing for other words
constexpr uint64_t sizeBytes(TokenType type) { return uint64_t(1) << static_cast<int>(type); }

class TokenFile {
public:
  // Fails (Invalid) where the file cannot be read or its size is no multiple of the token size.
  static Result<TokenFile> open(const std::string &path, TokenType type);
  TokenFile(TokenFile &&other) noexcept;
  TokenFile &operator=(TokenFile &&other) noexcept;
  ~TokenFile();

  const std::string &path() const { return name; }
  TokenType type() const { return kind; }
  uint64_t tokens() const { return bytes / sizeBytes(kind); }
  // index < tokens().
  uint32_t token(uint64_t index) const;

  // The first id of tokens [begin, end) that is not below `vocabulary`, as an error with its offset in the file.
  Status checkIds(uint64_t begin, uint64_t end, uint64_t vocabulary) const;

private:
  TokenFile() = default;
  std::string name;
  TokenType kind = TokenType::U8;
  const unsigned char *data = nullptr;
  uint64_t bytes = 0;
};

} // namespace hocket::runtime
#endif
