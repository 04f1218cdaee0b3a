// What bench-gemm measures: which products, how often and where. That times are times is all that is said of them.
#include "tools/bench-gemm/Peak.h"
#include "tools/bench-gemm/Products.h"
#include <gtest/gtest.h>

using namespace hocket;
namespace {

// One stage: a forward of one kernel (70 operations) and one product, run for three microbatches in two slots, an
// update without products, and an entry that is no training.
std::vector<uint8_t> sample() {
  program::ProgramT program;
  program.axes.push_back(std::make_unique<program::AxisT>());
  program.axes[0]->size = 1;
  program.kernels.push_back(std::make_unique<program::KernelT>());
  program.kernels[0]->flops = 70;
  auto stage = std::make_unique<program::RankProgramT>();
  stage->arenaBytes = 4096;
  stage->slotsOffset = 1024;
  stage->slotBytes = 512;
  stage->slotCount = 2;
  auto forward = std::make_unique<program::BodyT>();
  forward->instructions.push_back(std::make_unique<program::InstructionT>());
  auto product = std::make_unique<program::InstructionT>();
  product->op = program::Op::Gemm;
  product->gemm = std::make_unique<program::Gemm>(false, true, true, 2, 3, 4, 4, 5, 6, 1, 0, 0, 0);
  product->buffers = {
      {program::Space::Microbatch, 64, 32}, {program::Space::Arena, 256, 60}, {program::Space::Slot, 128, 72}};
  forward->instructions.push_back(std::move(product));
  stage->bodies.push_back(std::move(forward));
  stage->bodies.push_back(std::make_unique<program::BodyT>());
  auto row = [](program::RowKind kind, uint16_t index, uint32_t microbatch, uint32_t slot) {
    std::array<uint32_t, 8> none{};
    return program::Row(kind, 0, index, microbatch, slot, none);
  };
  for (const char *name : {"eval", program::trainEntry}) {
    stage->entries.push_back(std::make_unique<program::EntryT>());
    stage->entries.back()->name = name;
    for (uint32_t microbatch = 0; microbatch < 3; ++microbatch)
      stage->entries.back()->rows.push_back(row(program::RowKind::Body, 0, microbatch, microbatch % 2));
    stage->entries.back()->rows.push_back(row(program::RowKind::Send, 0, 0, 0));
    stage->entries.back()->rows.push_back(row(program::RowKind::Body, 1, 0, 0));
  }
  program.ranks.push_back(std::move(stage));
  flatbuffers::FlatBufferBuilder builder;
  program::FinishProgramBuffer(builder, program::Program::Pack(builder, &program));
  return {builder.GetBufferPointer(), builder.GetBufferPointer() + builder.GetSize()};
}

TEST(BenchGemm, ProductsAreThoseOfTheTrainingRows) {
  std::vector<uint8_t> bytes = sample();
  bench::Work work = bench::workOf(*program::GetProgram(bytes.data()), 0);
  ASSERT_EQ(work.products.size(), 3u);
  EXPECT_EQ(work.productFlops, 3 * 2 * 2 * 3 * 4);
  EXPECT_EQ(work.kernelFlops, 3 * 70);
  for (uint64_t i = 0; i < 3; ++i) {
    const bench::Product &product = work.products[i];
    EXPECT_EQ(product.a, 64 + 32 * i);
    EXPECT_EQ(product.b, 256u);
    EXPECT_EQ(product.c, 1024 + 512 * (i % 2) + 128);
    EXPECT_TRUE(product.gemm.transB && product.gemm.accumulate && !product.gemm.transA);
    EXPECT_EQ(product.gemm.ldc, 6);
  }
}

TEST(BenchGemm, BothWaysRunEveryProduct) {
  std::vector<uint8_t> bytes = sample();
  bench::Work work = bench::workOf(*program::GetProgram(bytes.data()), 0);
  bench::Operands operands;
  ASSERT_EQ(operands.create(work, 4096), "");
  runtime::ThreadPool pool(2);
  EXPECT_GT(operands.vendor(work, 2), 0);
  EXPECT_GT(operands.ours(work, pool), 0);
  work.products[1].gemm.ldc = 2; // less than n
  EXPECT_LT(operands.vendor(work, 2), 0);
  EXPECT_LT(operands.ours(work, pool), 0);
}

TEST(BenchGemm, PeakIsThatOfAMachineOfThisCentury) { EXPECT_GT(bench::flopsPerSecond(1), 1e8); }

} // namespace
