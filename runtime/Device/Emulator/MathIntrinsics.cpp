// Arithmetic of the PTX ISA. *.approx is libm's or correctly rounded; .ftz keeps subnormal numbers.
#include "runtime/Device/Emulator/Intrinsics.h"
#include <cfenv>
#include <cmath>
#include <concepts>
#include <cstring>
#include <limits>

namespace hocket::runtime::emulator {

namespace {

// Runs `compute` with a rounding mode. Operands go through memory, so that nothing is folded or moved.
template <int mode, class T, class F> T rounded(F compute, T a, T b = T(), T c = T()) {
  if constexpr (mode == FE_TONEAREST)
    return compute(a, b, c);
  int before = std::fegetround();
  std::fesetround(mode);
  volatile T x = a, y = b, z = c;
  volatile T result = compute(x, y, z);
  std::fesetround(before);
  return result;
}

template <class T, int mode> T add(T a, T b) {
  return rounded<mode>([](T x, T y, T) { return x + y; }, a, b);
}
template <class T, int mode> T multiply(T a, T b) {
  return rounded<mode>([](T x, T y, T) { return x * y; }, a, b);
}
template <class T, int mode> T divide(T a, T b) {
  return rounded<mode>([](T x, T y, T) { return x / y; }, a, b);
}
template <class T, int mode> T fused(T a, T b, T c) {
  return rounded<mode>([](T x, T y, T z) { return std::fma(x, y, z); }, a, b, c);
}
template <class T, int mode> T root(T a) {
  return rounded<mode>([](T x, T, T) { return std::sqrt(x); }, a);
}
template <class T, int mode> T reciprocal(T a) {
  return rounded<mode>([](T x, T, T) { return T(1) / x; }, a);
}

template <class T, int mode>
void addRounded(IntrinsicTable &table, const std::string &rounding, const std::string &type) {
  auto name = [&](const char *operation) { return std::string("llvm.nvvm.") + operation + "." + rounding + type; };
  table.emplace(name("add"), direct(add<T, mode>));
  table.emplace(name("mul"), direct(multiply<T, mode>));
  table.emplace(name("div"), direct(divide<T, mode>));
  table.emplace(name("fma"), direct(fused<T, mode>));
  table.emplace(name("sqrt"), direct(root<T, mode>));
  table.emplace(name("rcp"), direct(reciprocal<T, mode>));
}

template <int mode> void addRounding(IntrinsicTable &table, const std::string &rounding) {
  addRounded<float, mode>(table, rounding, ".f");
  addRounded<float, mode>(table, rounding, ".ftz.f");
  addRounded<double, mode>(table, rounding, ".d");
}

template <std::floating_point T> T saturate(T x) { return !(x > 0) ? T(0) : x > 1 ? T(1) : x; } // NaN -> 0
// min and max of PTX: a number rather than NaN
template <std::floating_point T> T smaller(T a, T b) { return std::fmin(a, b); }
template <std::floating_point T> T larger(T a, T b) { return std::fmax(a, b); }
template <std::floating_point T> T reciprocalRoot(T x) { return T(1) / std::sqrt(x); }
template <std::floating_point T> T absolute(T x) { return std::fabs(x); }
template <std::floating_point T> T down(T x) { return std::floor(x); }
template <std::floating_point T> T up(T x) { return std::ceil(x); }
template <std::floating_point T> T toZero(T x) { return std::trunc(x); }
template <std::floating_point T> T toEven(T x) { return std::nearbyint(x); }

// In both spellings: with .ftz and without.
void addBoth(IntrinsicTable &table, const std::string &name, const std::string &type, Intrinsic intrinsic) {
  table.emplace("llvm.nvvm." + name + type, intrinsic);
  table.emplace("llvm.nvvm." + name + ".ftz" + type, intrinsic);
}

// What f32 and f64 have alike.
template <class T> void addOfType(IntrinsicTable &table, const std::string &type) {
  addBoth(table, "rcp.approx", type, direct(reciprocal<T, FE_TONEAREST>));
  addBoth(table, "rsqrt.approx", type, direct(reciprocalRoot<T>));
  addBoth(table, "saturate", type, direct(saturate<T>));
  addBoth(table, "fabs", type, direct(absolute<T>));
  addBoth(table, "fmin", type, direct(smaller<T>));
  addBoth(table, "fmax", type, direct(larger<T>));
  addBoth(table, "floor", type, direct(down<T>));
  addBoth(table, "ceil", type, direct(up<T>));
  addBoth(table, "trunc", type, direct(toZero<T>));
  addBoth(table, "round", type, direct(toEven<T>));
}

void addFloats(IntrinsicTable &table) {
  for (const char *type : {".f", ".f32", ""}) {
    addOfType<float>(table, type);
    addBoth(table, "ex2.approx", type, direct<float(float)>([](float x) { return std::exp2(x); }));
    addBoth(table, "lg2.approx", type, direct<float(float)>([](float x) { return std::log2(x); }));
    addBoth(table, "sin.approx", type, direct<float(float)>([](float x) { return std::sin(x); }));
    addBoth(table, "cos.approx", type, direct<float(float)>([](float x) { return std::cos(x); }));
    addBoth(table, "tanh.approx", type, direct<float(float)>([](float x) { return std::tanh(x); }));
    addBoth(table, "sqrt.approx", type, direct(root<float, FE_TONEAREST>));
    addBoth(table, "div.approx", type, direct(divide<float, FE_TONEAREST>));
    addBoth(table, "div.full", type, direct(divide<float, FE_TONEAREST>));
  }
  addBoth(table, "sqrt", ".f", direct(root<float, FE_TONEAREST>));
}

void addDoubles(IntrinsicTable &table) {
  for (const char *type : {".d", ".f64"})
    addOfType<double>(table, type);
}

void addIntegers(IntrinsicTable &table) {
  using I = int32_t;
  using U = uint32_t;
  table.emplace("llvm.nvvm.mulhi.i", direct<I(I, I)>([](I a, I b) { return I(int64_t(a) * b >> 32); }));
  table.emplace("llvm.nvvm.mulhi.ui", direct<U(U, U)>([](U a, U b) { return U(uint64_t(a) * b >> 32); }));
  table.emplace("llvm.nvvm.mulhi.ll", direct<int64_t(int64_t, int64_t)>([](int64_t a, int64_t b) {
                  return int64_t(__extension__(__int128(a)) * b >> 64);
                }));
  table.emplace("llvm.nvvm.mulhi.ull", direct<uint64_t(uint64_t, uint64_t)>([](uint64_t a, uint64_t b) {
                  return uint64_t(__extension__((unsigned __int128)(a)) * b >> 64);
                }));
  // Four bytes picked from the eight of b:a; bit 3 of a selector spreads the sign.
  table.emplace("llvm.nvvm.prmt", direct<U(U, U, U)>([](U a, U b, U selectors) {
                  uint64_t bytes = uint64_t(b) << 32 | a;
                  U result = 0;
                  for (int i = 0; i < 4; ++i) {
                    U selector = selectors >> 4 * i & 15, byte = bytes >> 8 * (selector & 7) & 255;
                    result |= (selector & 8 ? (byte & 128 ? 255u : 0u) : byte) << 8 * i;
                  }
                  return result;
                }));
}

} // namespace

void addMathIntrinsics(IntrinsicTable &table) {
  addRounding<FE_TONEAREST>(table, "rn");
  addRounding<FE_TOWARDZERO>(table, "rz");
  addRounding<FE_DOWNWARD>(table, "rm");
  addRounding<FE_UPWARD>(table, "rp");
  addFloats(table);
  addDoubles(table);
  addIntegers(table);
}

} // namespace hocket::runtime::emulator
