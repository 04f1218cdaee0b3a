// ldmatrix, stmatrix and mma.sync against plain loops.
#include "EmulatorTesting.h"
#include "runtime/Comm/Half.h"
#include <cmath>

using namespace hocket::test;
namespace {

const char *declarations = R"(
declare i32 @llvm.nvvm.ldmatrix.sync.aligned.m8n8.x1.b16.p3(ptr addrspace(3))
declare i32 @llvm.nvvm.ldmatrix.sync.aligned.m8n8.x1.trans.b16.p3(ptr addrspace(3))
declare {i32, i32} @llvm.nvvm.ldmatrix.sync.aligned.m8n8.x2.b16.p3(ptr addrspace(3))
declare {i32, i32} @llvm.nvvm.ldmatrix.sync.aligned.m8n8.x2.trans.b16.p3(ptr addrspace(3))
declare {i32, i32, i32, i32} @llvm.nvvm.ldmatrix.sync.aligned.m8n8.x4.b16.p3(ptr addrspace(3))
declare {i32, i32, i32, i32} @llvm.nvvm.ldmatrix.sync.aligned.m8n8.x4.trans.b16.p3(ptr addrspace(3))
declare {float, float, float, float} @llvm.nvvm.mma.m16n8k16.row.col.bf16(i32, i32, i32, i32, i32, i32, float, float, float, float)
declare {float, float, float, float} @llvm.nvvm.mma.m16n8k16.row.col.f32.f32(<2 x half>, <2 x half>, <2 x half>, <2 x half>, <2 x half>, <2 x half>, float, float, float, float)
@tile = internal addrspace(3) global [512 x i16] undef, align 16
)";

// Copies 32 rows of 8 elements to shared memory, row l by lane l.
const char *fill = R"(
  %row = mul i32 %lane, 8
  %from = getelementptr i16, ptr addrspace(1) %a, i32 %row
  %at = getelementptr i16, ptr addrspace(3) @tile, i32 %row
  %values = load <8 x i16>, ptr addrspace(1) %from, align 16
  store <8 x i16> %values, ptr addrspace(3) %at, align 16
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
)";

// Registers of all lanes after ldmatrix of `count` matrices from elements 0, 1, 2, …
std::vector<uint16_t> loaded(int count, bool transposed) {
  std::string name =
      "@llvm.nvvm.ldmatrix.sync.aligned.m8n8.x" + std::to_string(count) + (transposed ? ".trans" : "") + ".b16.p3";
  std::string type = count == 1 ? "i32" : count == 2 ? "{i32, i32}" : "{i32, i32, i32, i32}";
  std::string body = fill;
  body += "  %m = call " + type + " " + name + "(ptr addrspace(3) %at)\n  %first = mul i32 %lane, " +
          std::to_string(count) + "\n";
  for (int i = 0; i < count; ++i) {
    std::string n = std::to_string(i);
    body += count == 1 ? "  %r0 = add i32 %m, 0\n" : "  %r" + n + " = extractvalue " + type + " %m, " + n + "\n";
    body += "  %i" + n + " = add i32 %first, " + n + "\n  %to" + n +
            " = getelementptr i32, ptr addrspace(1) %b, i32 %i" + n + "\n  store i32 %r" + n +
            ", ptr addrspace(1) %to" + n + ", align 4\n";
  }
  TestKernel kernel(kernelText("ptr addrspace(1) %a, ptr addrspace(1) %b", body + "  ret void", declarations));
  std::vector<uint16_t> a(256), b(static_cast<size_t>(64 * count));
  for (size_t i = 0; i < a.size(); ++i)
    a[i] = static_cast<uint16_t>(i);
  kernel.buffer(a);
  kernel.buffer(b);
  EXPECT_EQ(kernel.run({1}, {32}), "");
  return b;
}

TEST(EmulatorMatrix, LoadsMatricesInBothForms) {
  for (int count : {1, 2, 4})
    for (bool transposed : {false, true}) {
      std::vector<uint16_t> found = loaded(count, transposed);
      for (int lane = 0; lane < 32; ++lane)
        for (int matrix = 0; matrix < count; ++matrix)
          for (int i = 0; i < 2; ++i) {
            int row = lane / 4, column = lane % 4 * 2 + i;
            if (transposed)
              std::swap(row, column);
            ASSERT_EQ(found[static_cast<size_t>((lane * count + matrix) * 2 + i)], matrix * 64 + row * 8 + column)
                << "x" << count << " lane " << lane;
          }
    }
}

// Multiplies A [16,16] by B [16,8] with fragments loaded as PTX lays them out: by hand, element by element.
std::string product(bool bfloat) {
  std::string body = R"(
  %g = lshr i32 %lane, 2
  %t = and i32 %lane, 3
  %pair = mul i32 %t, 2
)";
  std::string type = bfloat ? "i32" : "<2 x half>", values;
  for (int r = 0; r < 4; ++r) { // A: row g + 8 (r%2), columns pair + 8 (r/2)
    std::string n = std::to_string(r);
    body += "  %ar" + n + " = add i32 %g, " + std::to_string(r % 2 * 8) + "\n  %ac" + n + " = add i32 %pair, " +
            std::to_string(r / 2 * 8) + "\n  %am" + n + " = mul i32 %ar" + n + ", 16\n  %ai" + n + " = add i32 %am" +
            n + ", %ac" + n + "\n  %ap" + n + " = getelementptr i16, ptr addrspace(1) %a, i32 %ai" + n + "\n  %a" + n +
            " = load " + type + ", ptr addrspace(1) %ap" + n + ", align 4\n";
    values += type + " %a" + n + ", ";
  }
  for (int r = 0; r < 2; ++r) { // B is stored by column: column g, rows pair + 8 r
    std::string n = std::to_string(r);
    body += "  %bc" + n + " = add i32 %pair, " + std::to_string(r * 8) + "\n  %bm" + n + " = mul i32 %g, 16\n  %bi" +
            n + " = add i32 %bm" + n + ", %bc" + n + "\n  %bp" + n +
            " = getelementptr i16, ptr addrspace(1) %b, i32 %bi" + n + "\n  %b" + n + " = load " + type +
            ", ptr addrspace(1) %bp" + n + ", align 4\n";
    values += type + " %b" + n + ", ";
  }
  body += "  %d = call {float, float, float, float} @llvm.nvvm.mma.m16n8k16.row.col." +
          std::string(bfloat ? "bf16" : "f32.f32") + "(" + values + "float 1.0, float 2.0, float 3.0, float 4.0)\n";
  for (int r = 0; r < 4; ++r) { // D: row g + 8 (r/2), column pair + r%2
    std::string n = std::to_string(r);
    body += "  %dr" + n + " = add i32 %g, " + std::to_string(r / 2 * 8) + "\n  %dm" + n + " = mul i32 %dr" + n +
            ", 8\n  %dc" + n + " = add i32 %pair, " + std::to_string(r % 2) + "\n  %di" + n + " = add i32 %dm" + n +
            ", %dc" + n + "\n  %dp" + n + " = getelementptr float, ptr addrspace(1) %c, i32 %di" + n + "\n  %d" + n +
            " = extractvalue {float, float, float, float} %d, " + n + "\n  store float %d" + n +
            ", ptr addrspace(1) %dp" + n + ", align 4\n";
  }
  return kernelText("ptr addrspace(1) %a, ptr addrspace(1) %b, ptr addrspace(1) %c", body + "  ret void", declarations);
}

TEST(EmulatorMatrix, MultipliesInBothTypes) {
  for (bool bfloat : {true, false}) {
    TestKernel kernel(product(bfloat));
    std::vector<uint16_t> a(256), b(128);
    std::vector<float> c(128), x(256), y(128);
    auto set = [&](std::vector<uint16_t> &bits, std::vector<float> &values, size_t i, float value) {
      bits[i] = bfloat ? toBFloat16(value).bits : toFloat16(value).bits;
      values[i] = bfloat ? toFloat(BFloat16{bits[i]}) : toFloat(Float16{bits[i]});
    };
    for (size_t i = 0; i < 256; ++i)
      set(a, x, i, std::sin(static_cast<float>(i) + 1));
    for (size_t i = 0; i < 128; ++i)
      set(b, y, i, std::cos(3 * static_cast<float>(i)));
    kernel.buffer(a);
    kernel.buffer(b);
    kernel.buffer(c);
    EXPECT_EQ(kernel.run({1}, {32}), "");
    for (size_t row = 0; row < 16; ++row)
      for (size_t column = 0; column < 8; ++column) {
        double sum = 1 + column % 2 + 2 * (row / 8); // the accumulator: 1 to 4 by register
        for (size_t k = 0; k < 16; ++k)
          sum += double(x[row * 16 + k]) * y[column * 16 + k];
        ASSERT_NEAR(c[row * 8 + column], sum, 1e-5) << row << ", " << column;
      }
  }
}

TEST(EmulatorMatrix, RefusesRowsThatAreNotAligned) {
  TestKernel kernel(kernelText("", R"(
  %at = getelementptr i8, ptr addrspace(3) @tile, i32 8
  %m = call i32 @llvm.nvvm.ldmatrix.sync.aligned.m8n8.x1.b16.p3(ptr addrspace(3) %at)
  ret void)",
                               declarations));
  EXPECT_THAT(kernel.run({1}, {32}),
              testing::StartsWith("kernel \"k\", block (0,0,0), thread (0,0,0): gives ldmatrix a row "
                                  "that is not aligned to 16 bytes, at `%m = call i32 @llvm.nvvm."));
}

} // namespace
