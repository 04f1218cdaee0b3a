// Contracts in TokenType.h.
#include "runtime/Data/TokenType.h"

namespace hocket::runtime {

namespace {
struct TypeFacts {
  std::string_view name;
  unsigned bytes;
  bool negative; // has numbers below zero
};
constexpr TypeFacts facts[] = {{"u8", 1, false}, {"u16", 2, false}, {"u32", 4, false}, {"i8", 1, true},
                               {"i16", 2, true}, {"i32", 4, true},  {"i64", 8, true}};
const TypeFacts &factsOf(TokenType type) { return facts[static_cast<int>(type)]; }
} // namespace

std::string_view toString(TokenType type) { return factsOf(type).name; }
uint64_t sizeBytes(TokenType type) { return factsOf(type).bytes; }
uint64_t idsOf(TokenType type) { return uint64_t(1) << (8 * factsOf(type).bytes - factsOf(type).negative); }

} // namespace hocket::runtime
