// Arithmetic: libdevice and the functions by name, approximations, conversions.
#include "EmulatorTesting.h"
#include "runtime/Comm/Half.h"
#include <cmath>
#include <limits>

using namespace hocket::test;
namespace {

// b[tid] = BODY of %x = a[tid]; the body defines %y (float).
std::vector<float> apply(const std::string &body, const std::string &declarations, std::vector<float> a,
                         Options options = {}) {
  TestKernel kernel(kernelText("ptr addrspace(1) %a, ptr addrspace(1) %b", R"(
  %p = getelementptr float, ptr addrspace(1) %a, i32 %tid
  %x = load float, ptr addrspace(1) %p, align 4
)" + body + R"(
  %q = getelementptr float, ptr addrspace(1) %b, i32 %tid
  store float %y, ptr addrspace(1) %q, align 4
  ret void)",
                               declarations),
                    std::move(options));
  std::vector<float> b(a.size());
  kernel.buffer(a);
  kernel.buffer(b);
  EXPECT_EQ(kernel.run({1}, {static_cast<uint32_t>(a.size())}), "");
  return b;
}

const std::vector<float> numbers{-3.5f, -1, -0.25f, 0, 1e-3f, 0.5f, 1, 2.75f, 9};

template <class F> void expectNear(const std::vector<float> &found, F expected, double tolerance) {
  for (size_t i = 0; i < numbers.size(); ++i) {
    double right = expected(double(numbers[i]));
    EXPECT_NEAR(found[i], right, tolerance * (1e-6 + std::fabs(right))) << numbers[i];
  }
}

TEST(EmulatorMath, FunctionsByNameOrFromLibdevice) {
  for (const char *name : {"exp", "tanh", "erf", "expm1"}) {
    std::string function = "@__nv_" + std::string(name) + "f";
    std::vector<float> found =
        apply("  %y = call float " + function + "(float %x)", "declare float " + function + "(float)", numbers);
    expectNear(
        found,
        [&](double x) {
          return *name == 't'     ? std::tanh(x)
                 : name[1] == 'r' ? std::erf(x)
                 : name[3] == 'm' ? std::expm1(x)
                                  : std::exp(x);
        },
        5e-7);
  }
}

TEST(EmulatorMath, SaysThatLibdeviceCannotBeRead) {
  Options options;
  options.libdevice = "/nowhere/libdevice.10.bc";
  Emulator emulator(options);
  auto module = emulator.load(
      kernelText("", "%y = call float @__nv_expf(float 1.0)\nret void", "declare float @__nv_expf(float)"));
  ASSERT_FALSE(module);
  EXPECT_EQ(module.error().message,
            "cannot read libdevice /nowhere/libdevice.10.bc: Could not open input file: No such file or directory");
}

TEST(EmulatorMath, Approximations) {
  expectNear(
      apply("  %y = call float @llvm.nvvm.ex2.approx.ftz.f32(float %x)",
            "declare float @llvm.nvvm.ex2.approx.ftz.f32(float)", numbers),
      [](double x) { return std::exp2(x); }, 3e-7);
  expectNear(
      apply("  %y = call float asm \"tanh.approx.f32 $0,$1;\", \"=f,f\"(float %x)", "", numbers),
      [](double x) { return std::tanh(x); }, 3e-7);
  expectNear(
      apply("  %y = call afn float @llvm.exp2.f32(float %x)", "declare float @llvm.exp2.f32(float)", numbers),
      [](double x) { return std::exp2(x); }, 3e-7);
}

TEST(EmulatorMath, RoundsAsToldByTheInstruction) {
  std::string add = "declare float @llvm.nvvm.add.rp.f(float, float)\ndeclare float @llvm.nvvm.add.rm.f(float, float)";
  std::vector<float> up = apply("  %y = call float @llvm.nvvm.add.rp.f(float %x, float 0x3E10000000000000)", add, {1});
  std::vector<float> down =
      apply("  %y = call float @llvm.nvvm.add.rm.f(float %x, float 0x3E10000000000000)", add, {1});
  EXPECT_EQ(up[0], std::nextafter(1.0f, 2.0f));
  EXPECT_EQ(down[0], 1.0f);
}

TEST(EmulatorMath, HalvesRoundToNearestEven) {
  std::vector<float> numbers{1 + 0x1p-8f, 1 + 3 * 0x1p-8f, 65519, 65520, 0x1p-25f, 3.14159f};
  std::vector<float> bfloat = apply("  %h = fptrunc float %x to bfloat\n  %y = fpext bfloat %h to float", "", numbers);
  std::vector<float> half = apply("  %h = fptrunc float %x to half\n  %y = fpext half %h to float", "", numbers);
  for (size_t i = 0; i < numbers.size(); ++i) {
    EXPECT_EQ(bfloat[i], toFloat(toBFloat16(numbers[i])));
    EXPECT_EQ(half[i], toFloat(toFloat16(numbers[i])));
  }
}

// Just above the middle of two bf16 numbers: rounding to f32 on the way would lose what lies above.
TEST(EmulatorMath, DoublesRoundToHalvesOnce) {
  std::vector<float> found = apply(R"(
  %d = fpext float %x to double
  %e = fadd double %d, 0x3D70000000000000
  %h = fptrunc double %e to bfloat
  %y = fpext bfloat %h to float)",
                                   "", {1 + 0x1p-8f, 1 - 0x1p-9f});
  EXPECT_EQ(found[0], 1 + 0x1p-7f);
  EXPECT_EQ(found[1], 1.0f);
}

TEST(EmulatorMath, PacksTwoHalves) {
  std::vector<float> found = apply(R"(
  %two = call <2 x bfloat> @llvm.nvvm.ff2bf16x2.rn(float %x, float 2.0)
  %y = bitcast <2 x bfloat> %two to float)",
                                   "declare <2 x bfloat> @llvm.nvvm.ff2bf16x2.rn(float, float)", {1});
  EXPECT_EQ(std::bit_cast<uint32_t>(found[0]), 0x3F804000u); // the first operand is the upper half
}

TEST(EmulatorMath, ConversionsToIntegersSaturate) {
  const float infinite = std::numeric_limits<float>::infinity();
  std::vector<float> found = apply("  %i = call i32 @llvm.nvvm.f2i.rm(float %x)\n  %y = bitcast i32 %i to float",
                                   "declare i32 @llvm.nvvm.f2i.rm(float)", {-1.5f, infinite, NAN});
  EXPECT_EQ(std::bit_cast<int32_t>(found[0]), -2);
  EXPECT_EQ(std::bit_cast<int32_t>(found[1]), INT32_MAX);
  EXPECT_EQ(std::bit_cast<int32_t>(found[2]), 0);
}

} // namespace
