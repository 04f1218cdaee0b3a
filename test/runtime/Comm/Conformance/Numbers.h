// Test values of every element type and the serial reference of a reduction, sharing no code with the runtime.
#ifndef HOCKET_TEST_RUNTIME_COMM_CONFORMANCE_NUMBERS_H
#define HOCKET_TEST_RUNTIME_COMM_CONFORMANCE_NUMBERS_H

#include "runtime/Comm/Communicator.h"

namespace hocket::test {

inline constexpr runtime::ElementType allTypes[] = {runtime::ElementType::F32,  runtime::ElementType::F64,
                                                    runtime::ElementType::BF16, runtime::ElementType::F16,
                                                    runtime::ElementType::I32,  runtime::ElementType::I64};

// Element i of member r: signed, of magnitudes so different that another order of adding gives other bits; integers
// over the whole range, so that sums wrap. Writes sizeBytes(type) bytes.
void writeValue(std::byte *to, runtime::ElementType type, uint64_t member, uint64_t i);
// count elements, of indices from `first` on.
std::vector<std::byte> values(runtime::ElementType type, uint64_t member, uint64_t first, size_t count);
// The reduction of values(type, r, first, count) over r = 0 … members - 1, in that order.
std::vector<std::byte> reduced(runtime::ElementType type, runtime::Reduction reduction, int members, uint64_t first,
                               size_t count);

// The first element of `got` that is not that of the reduction, count: none. Unless `inOrder`, sums of floating-point
// numbers may be those of any order of adding.
size_t firstWrong(const std::byte *got, runtime::ElementType type, runtime::Reduction reduction, int members,
                  uint64_t first, size_t count, bool inOrder);

// x rounded to nearest even to `digits` significant bits, subnormal below 2^leastExponent.
double roundTo(double x, int digits, int leastExponent);
// Value of bf16 and f16 bits, and bits of a value that is one.
double decodeHalf(uint16_t bits, int exponentBits);
uint16_t encodeHalf(double x, int exponentBits);

} // namespace hocket::test
#endif
