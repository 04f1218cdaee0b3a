// One matrix product in one thread, in the ways that a CPU has for it.
#ifndef HOCKET_RUNTIME_DEVICE_CPU_PRODUCTS_H
#define HOCKET_RUNTIME_DEVICE_CPU_PRODUCTS_H

#include "runtime/Device/Gemm.h"

namespace hocket::runtime {

// How products of bf16 are made.
//   Native   oneDNN's matmul: AMX or AVX-512 bf16. It takes subnormal bf16 for zero.
//   Widened  A and B become f32 a panel at a time, for oneDNN's f32 product. Products of f16 are always made so.
enum class BFloatProducts : uint8_t { Native, Widened };
BFloatProducts bestBFloatProducts(); // Native where this machine has instructions for it

// C = op(A) op(B) (+ C). `product.batch` and strides are not looked at; k may be 0. Returns 0 or oneDNN's status.
// The order of every sum depends on the sizes and types alone.
int multiply(const Gemm &product, const void *a, const void *b, void *c, BFloatProducts bfloat);

// The three ways; k > 0.
int multiplySingle(const Gemm &product, const float *a, const float *b, float *c);
int multiplyBFloat(const Gemm &product, const void *a, const void *b, void *c);
int multiplyWidened(const Gemm &product, const uint16_t *a, const uint16_t *b, void *c);

// 16-bit floats to f32 and back (to nearest, ties to even), with the CPU's instructions where it has them.
void widen(GemmType from, const uint16_t *in, float *out, int64_t count);
void narrow(GemmType to, const float *in, uint16_t *out, int64_t count);

} // namespace hocket::runtime
#endif
