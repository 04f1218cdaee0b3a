// The tables. Functions of libdevice and of LLVM's own making are the host's.
#include "runtime/Device/Emulator/Intrinsics.h"
#include "runtime/Comm/Half.h"
#include <cmath>
#include <cstring>

namespace hocket::runtime::emulator {

const IntrinsicTable &intrinsics() {
  static const IntrinsicTable table = [] {
    IntrinsicTable all;
    addIndexIntrinsics(all);
    addBarrierIntrinsics(all);
    addWarpIntrinsics(all);
    addMatrixIntrinsics(all);
    addCopyIntrinsics(all);
    addMathIntrinsics(all);
    addConversionIntrinsics(all);
    return all;
  }();
  return table;
}

namespace {

using Unary = float(float);
using Binary = float(float, float);
using UnaryDouble = double(double);
using BinaryDouble = double(double, double);

// name: of the C library, for f64; with an f after it, for f32
void addPair(IntrinsicTable &table, const std::string &name, Unary *f, UnaryDouble *d) {
  table.emplace(name + "f", direct(f));
  table.emplace(name, direct(d));
}

void addMathematics(IntrinsicTable &table) {
  addPair(table, "exp", ::expf, ::exp);
  addPair(table, "exp2", ::exp2f, ::exp2);
  addPair(table, "exp10", ::exp10f, ::exp10);
  addPair(table, "expm1", ::expm1f, ::expm1);
  addPair(table, "log", ::logf, ::log);
  addPair(table, "log2", ::log2f, ::log2);
  addPair(table, "log10", ::log10f, ::log10);
  addPair(table, "log1p", ::log1pf, ::log1p);
  addPair(table, "sin", ::sinf, ::sin);
  addPair(table, "cos", ::cosf, ::cos);
  addPair(table, "tan", ::tanf, ::tan);
  addPair(table, "asin", ::asinf, ::asin);
  addPair(table, "acos", ::acosf, ::acos);
  addPair(table, "atan", ::atanf, ::atan);
  addPair(table, "sinh", ::sinhf, ::sinh);
  addPair(table, "cosh", ::coshf, ::cosh);
  addPair(table, "tanh", ::tanhf, ::tanh);
  addPair(table, "erf", ::erff, ::erf);
  addPair(table, "erfc", ::erfcf, ::erfc);
  addPair(table, "sqrt", ::sqrtf, ::sqrt);
  addPair(table, "cbrt", ::cbrtf, ::cbrt);
  addPair(table, "floor", ::floorf, ::floor);
  addPair(table, "ceil", ::ceilf, ::ceil);
  addPair(table, "trunc", ::truncf, ::trunc);
  addPair(table, "rint", ::rintf, ::rint);
  addPair(table, "round", ::roundf, ::round);
  addPair(table, "fabs", ::fabsf, ::fabs);
  table.emplace("powf", direct<Binary>(::powf));
  table.emplace("pow", direct<BinaryDouble>(::pow));
  table.emplace("atan2f", direct<Binary>(::atan2f));
  table.emplace("atan2", direct<BinaryDouble>(::atan2));
  table.emplace("fmodf", direct<Binary>(::fmodf));
  table.emplace("fmod", direct<BinaryDouble>(::fmod));
  table.emplace("fminf", direct<Binary>(::fminf));
  table.emplace("fmin", direct<BinaryDouble>(::fmin));
  table.emplace("fmaxf", direct<Binary>(::fmaxf));
  table.emplace("fmax", direct<BinaryDouble>(::fmax));
  table.emplace("copysignf", direct<Binary>(::copysignf));
  table.emplace("copysign", direct<BinaryDouble>(::copysign));
  table.emplace("fmaf", direct<float(float, float, float)>(::fmaf));
  table.emplace("fma", direct<double(double, double, double)>(::fma));
  table.emplace("ldexpf", direct<float(float, int)>(::ldexpf));
  table.emplace("ldexp", direct<double(double, int)>(::ldexp));
}

// Rounds once: to odd f32 first, which keeps what decides the second rounding.
float oddFloat(double x) {
  float near = static_cast<float>(x);
  if (std::isnan(x) || std::isinf(near) || near == x)
    return near;
  uint32_t bits = std::bit_cast<uint32_t>(near);
  if (std::fabs(double(near)) > std::fabs(x))
    --bits; // toward zero
  return std::bit_cast<float>(bits | 1);
}

float inLowHalf(uint16_t bits) { return std::bit_cast<float>(uint32_t(bits)); } // 16-bit types come back in xmm0

} // namespace

const IntrinsicTable &deviceFunctions() {
  static const IntrinsicTable table = [] {
    IntrinsicTable host, all;
    addMathematics(host);
    for (auto &[name, function] : host)
      all.emplace("__nv_" + name, function);
    all.emplace("__nv_rsqrtf", direct<Unary>([](float x) { return 1 / std::sqrt(x); }));
    all.emplace("__nv_rsqrt", direct<UnaryDouble>([](double x) { return 1 / std::sqrt(x); }));
    all.emplace("__nv_fast_expf", direct<Unary>(::expf));
    all.emplace("__nv_fast_logf", direct<Unary>(::logf));
    all.emplace("__nv_fast_log2f", direct<Unary>(::log2f));
    all.emplace("__nv_fast_powf", direct<Binary>(::powf));
    all.emplace("__nv_fast_sinf", direct<Unary>(::sinf));
    all.emplace("__nv_fast_cosf", direct<Unary>(::cosf));
    return all;
  }();
  return table;
}

const IntrinsicTable &hostFunctions() {
  static const IntrinsicTable table = [] {
    IntrinsicTable all;
    addMathematics(all);
    all.emplace("memcpy", direct(::memcpy));
    all.emplace("memmove", direct(::memmove));
    all.emplace("memset", direct(::memset));
    all.emplace("__truncsfbf2", direct<float(float)>([](float x) { return inLowHalf(toBFloat16(x).bits); }));
    all.emplace("__truncsfhf2", direct<float(float)>([](float x) { return inLowHalf(toFloat16(x).bits); }));
    all.emplace("__truncdfbf2",
                direct<float(double)>([](double x) { return inLowHalf(toBFloat16(oddFloat(x)).bits); }));
    all.emplace("__truncdfhf2", direct<float(double)>([](double x) { return inLowHalf(toFloat16(oddFloat(x)).bits); }));
    return all;
  }();
  return table;
}

const IntrinsicTable &assembly() {
  static const IntrinsicTable table = [] {
    IntrinsicTable all;
    const IntrinsicTable &known = intrinsics();
    auto same = [&](const char *text, const char *name) { all.emplace(text, known.find(name)->second); };
    for (const char *ftz : {"", ".ftz"}) {
      auto both = [&](const std::string &name) {
        std::string instruction = name + ftz + ".f32 $0, $1;";
        all.emplace(instruction, known.find("llvm.nvvm." + name + ".f")->second);
      };
      for (const char *name :
           {"ex2.approx", "lg2.approx", "rcp.approx", "rsqrt.approx", "sqrt.approx", "sin.approx", "cos.approx"})
        both(name);
    }
    all.emplace("mov.b64 $0, $1;", direct<uint64_t(uint64_t)>([](uint64_t x) { return x; }));
    same("tanh.approx.f32 $0, $1;", "llvm.nvvm.tanh.approx.f");
    same("cvt.rn.bf16.f32 $0, $1;", "llvm.nvvm.f2bf16.rn");
    same("cvt.rn.f16.f32 $0, $1;", "llvm.nvvm.f2h.rn");
    same("cvt.rn.bf16x2.f32 $0, $1, $2;", "llvm.nvvm.ff2bf16x2.rn");
    same("cvt.rn.f16x2.f32 $0, $1, $2;", "llvm.nvvm.ff2f16x2.rn");
    return all;
  }();
  return table;
}

} // namespace hocket::runtime::emulator
