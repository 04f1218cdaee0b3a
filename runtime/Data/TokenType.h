// How a token id is stored. A flat file holds u8, u16 or u32; a Megatron-LM index names any of these types but u32.
#ifndef HOCKET_RUNTIME_DATA_TOKENTYPE_H
#define HOCKET_RUNTIME_DATA_TOKENTYPE_H

#include <cstdint>
#include <optional>
#include <string_view>

namespace hocket::runtime {

enum class TokenType : uint8_t { U8, U16, U32, I8, I16, I32, I64 };

std::string_view toString(TokenType type); // "u16"
uint64_t sizeBytes(TokenType type);
// How many ids it can write: U8 -> 256, I16 -> 32768 (an id is never negative).
uint64_t idsOf(TokenType type);

} // namespace hocket::runtime
#endif
