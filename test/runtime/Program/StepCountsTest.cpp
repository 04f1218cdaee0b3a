// What a step computes and sends, against the sample program counted by hand.
#include "runtime/Program/StepCounts.h"
#include "SampleProgram.h"
#include <gtest/gtest.h>

using namespace hocket;

TEST(StepCounts, OfTheSampleByHand) {
  program::ProgramT from = sample::sampleProgram();
  for (auto &kernel : from.kernels)
    kernel->flops = kernel->symbol == "sample_forward0" ? 10 : kernel->symbol == "sample_update1" ? 1 : 0;
  flatbuffers::FlatBufferBuilder builder;
  builder.Finish(program::CreateProgram(builder, &from));
  const auto &program = *flatbuffers::GetRoot<program::Program>(builder.GetBufferPointer());
  program::StepCounts counts = program::countStep(program::Mesh(program), program);
  // Stage 0: three microbatches; stage 1: once. Two ranks each.
  EXPECT_EQ(counts.flops, 2 * (3 * 10 + 1));
  // Stage 0: {loss, count} around four ranks 2 * 8 * 3/4, w scattered and gathered over two 24/2 + 24/2, h of three
  // microbatches; stage 1: the same sums, du around two ranks 2 * 4 * 1/2, dh of three microbatches.
  constexpr uint64_t message = 4 * sample::cells, stage0 = 12 + 12 + 12 + 3 * message, stage1 = 12 + 4 + 3 * message;
  EXPECT_EQ(counts.sentBytes, 2 * (stage0 + stage1));
  EXPECT_EQ(counts.mostSentBytes, stage0);
}
