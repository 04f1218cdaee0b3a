// What the check says of a program for GPUs that contradicts itself: one case per rule, each with the whole sentence.
#include "GpuSample.h"
#include "SemanticCase.h"

using namespace hocket::program;
using hocket::sample::caseName;
using Case = hocket::sample::SemanticCase;

namespace {
class GpuSemantic : public testing::TestWithParam<Case> {};

GpuLaunchT &launch(ProgramT &program) { return *program.kernels[2]->gpu->launches[1]; }
void shape(ProgramT &program, std::array<uint32_t, 3> grid, std::array<uint32_t, 3> block, uint32_t shared = 0) {
  launch(program).shape = std::make_unique<GpuShape>(grid[0], grid[1], grid[2], block[0], block[1], block[2], shared);
}

// Stage 0's forward as a product of 2 x 4 and 4 x 3, whose rows are 8 apart, with an epilogue and its buffers.
void product(ProgramT &program, Epilogue epilogue, std::vector<uint64_t> extras, bool accumulates = false,
             uint64_t batch = 1, uint64_t leading = 8) {
  InstructionT &made = *program.ranks[0]->bodies[1]->instructions[0];
  made.op = Op::Gemm;
  made.written.clear();
  made.gemm = std::make_unique<Gemm>(false, false, accumulates, 2, 3, 4, 4, 3, leading, batch, 0, 0, 0);
  made.buffers = {Buffer(Space::Arena, 0, 32), Buffer(Space::Arena, 64, 48), Buffer(Space::Arena, 128, 44)};
  for (uint64_t bytes : extras)
    made.buffers.emplace_back(Space::Arena, 192, bytes);
  made.epilogue = epilogue;
}
} // namespace

TEST(GpuSemantic, EpiloguesAreSound) {
  using Epilogues = std::pair<Epilogue, std::vector<uint64_t>>;
  for (auto [epilogue, extras] :
       {Epilogues{Epilogue::None, {}}, Epilogues{Epilogue::Bias, {12}}, Epilogues{Epilogue::BiasGelu, {12, 44}},
        Epilogues{Epilogue::Gelu, {44}}, Epilogues{Epilogue::GeluGrad, {44}}, Epilogues{Epilogue::SumA, {8}},
        Epilogues{Epilogue::SumB, {12}}}) {
    ProgramT program = hocket::sample::cudaSample();
    product(program, epilogue, extras);
    EXPECT_THAT(hocket::sample::faultsOf(program), testing::IsEmpty()) << EnumNameEpilogue(epilogue);
  }
}

TEST(GpuSemantic, TheSampleIsSound) {
  EXPECT_THAT(hocket::sample::faultsOf(hocket::sample::cudaSample()), testing::IsEmpty());
}

TEST_P(GpuSemantic, IsNamed) {
  ProgramT program = hocket::sample::cudaSample();
  GetParam().damage(program);
  EXPECT_THAT(hocket::sample::faultsOf(program), testing::ElementsAre(GetParam().fault));
}

static const Case codeCases[] = {
    {"Target", [](ProgramT &p) { p = hocket::sample::sampleProgram(), p.target = "rocm"; },
     "target 'rocm', expected cpu or cuda"},
    {"NoCode", [](ProgramT &p) { p.kernels[2]->gpu = nullptr; },
     "kernel 2 'sample_forward0': has no code for GPUs, in a program for cuda"},
    {"CodeForCpu",
     [](ProgramT &p) {
       auto code = std::move(p.kernels[2]->gpu);
       p = hocket::sample::sampleProgram();
       p.kernels[2]->gpu = std::move(code);
     },
     "kernel 2 'sample_forward0': has code for GPUs, in a program for cpu"},
    {"NoLaunches", [](ProgramT &p) { p.kernels[2]->gpu->launches.clear(); },
     "kernel 2 'sample_forward0': no launches, expected at least 1"},
    {"NoSymbol", [](ProgramT &p) { launch(p).symbol = ""; },
     "kernel 2 'sample_forward0' launch '': the symbol is empty"},
    {"GridEmpty", [](ProgramT &p) { shape(p, {0, 1, 1}, {32, 1, 1}); },
     "kernel 2 'sample_forward0' launch 'sample_forward0_1': grid of 0 x 1 x 1 blocks, expected at least 1 and at most "
     "2147483647 x 65535 x 65535"},
    {"GridX", [](ProgramT &p) { shape(p, {0x80000000, 1, 1}, {32, 1, 1}); },
     "kernel 2 'sample_forward0' launch 'sample_forward0_1': grid of 2147483648 x 1 x 1 blocks, expected at least 1 "
     "and at most 2147483647 x 65535 x 65535"},
    {"GridY", [](ProgramT &p) { shape(p, {1, 65536, 1}, {32, 1, 1}); },
     "kernel 2 'sample_forward0' launch 'sample_forward0_1': grid of 1 x 65536 x 1 blocks, expected at least 1 and at "
     "most 2147483647 x 65535 x 65535"},
    {"GridZ", [](ProgramT &p) { shape(p, {1, 1, 65536}, {32, 1, 1}); },
     "kernel 2 'sample_forward0' launch 'sample_forward0_1': grid of 1 x 1 x 65536 blocks, expected at least 1 and at "
     "most 2147483647 x 65535 x 65535"},
    {"BlockEmpty", [](ProgramT &p) { shape(p, {1, 1, 1}, {32, 0, 1}); },
     "kernel 2 'sample_forward0' launch 'sample_forward0_1': block of 32 x 0 x 1 threads, expected at least 1 and at "
     "most 1024 in all, 64 along z"},
    {"BlockLarge", [](ProgramT &p) { shape(p, {1, 1, 1}, {64, 17, 1}); },
     "kernel 2 'sample_forward0' launch 'sample_forward0_1': block of 64 x 17 x 1 threads, expected at least 1 and at "
     "most 1024 in all, 64 along z"},
    {"BlockZ", [](ProgramT &p) { shape(p, {1, 1, 1}, {1, 1, 65}); },
     "kernel 2 'sample_forward0' launch 'sample_forward0_1': block of 1 x 1 x 65 threads, expected at least 1 and at "
     "most 1024 in all, 64 along z"},
    {"Shared", [](ProgramT &p) { shape(p, {1, 1, 1}, {32, 1, 1}, 232449); },
     "kernel 2 'sample_forward0' launch 'sample_forward0_1': 232449 bytes of dynamic shared memory, expected at most "
     "232448"},
    {"SharedOfOldest", [](ProgramT &p) { shape(p, {1, 1, 1}, {32, 1, 1}, 166850); },
     "kernel 2 'sample_forward0' launch 'sample_forward0_1': 166914 bytes of shared memory, static and dynamic, "
     "expected at most 166912 on sm_80"},
    {"Scratch", [](ProgramT &p) { p.kernels[8]->gpu->scratchBytes = (uint64_t(1) << 48) + 1; },
     "kernel 8 'sample_finish': 281474976710657 bytes of scratch, expected at most 281474976710656"},
    {"Bitcode", [](ProgramT &p) { p.kernels[2]->gpu->bitcode = {'E', 'L', 'F'}; },
     "kernel 2 'sample_forward0': 3 bytes of bitcode that do not start with BC"},
    {"Ptx", [](ProgramT &p) { p.kernels[2]->gpu->ptx = ""; }, "kernel 2 'sample_forward0': no PTX"},
    {"CubinOrder", [](ProgramT &p) { p.kernels[2]->gpu->cubins[1]->architecture = 80; },
     "kernel 2 'sample_forward0': cubin 1 is for sm_80, expected architectures in rising order"},
    {"CubinElf", [](ProgramT &p) { p.kernels[2]->gpu->cubins[1]->code = {1, 2, 3, 4}; },
     "kernel 2 'sample_forward0': cubin for sm_90 is no ELF file"}};

static const Case memoryCases[] = {
    {"OfCpu", [](ProgramT &p) { p = hocket::sample::sampleProgram(), p.ranks[1]->productsBytes = 64; },
     "stage 1: 64 bytes as workspace of products of a GPU, in a program for cpu"},
    {"ScratchOutside", [](ProgramT &p) { p.ranks[0]->scratchBytes = 4096, p.ranks[0]->productsBytes = 0; },
     "stage 0: 4096 bytes at 1024 as scratch of kernels lie outside the arena of 2560 bytes"},
    {"ProductsOutside", [](ProgramT &p) { p.ranks[0]->productsBytes = 1025; },
     "stage 0: 1025 bytes at 1536 as workspace of products lie outside the arena of 2560 bytes"},
    {"ProductsAlignment", [](ProgramT &p) { p.ranks[0]->productsOffset += 64, p.ranks[0]->arenaBytes += 64; },
     "stage 0: workspace of products at 1600, expected a multiple of 256"},
    {"Overlap", [](ProgramT &p) { p.ranks[0]->productsOffset -= 256; },
     "stage 0: scratch of kernels at 1024 and workspace of products at 1280 overlap"},
    {"OverSlots", [](ProgramT &p) { p.ranks[0]->slotsOffset = 1408, p.ranks[0]->productsBytes = 0; },
     "stage 0: scratch of kernels at 1024 and the slots at 1408 overlap"},
    {"OverState", [](ProgramT &p) { p.ranks[0]->state[0]->buffer = std::make_unique<Buffer>(Space::Arena, 1200, 24); },
     "stage 0 state 'w' at 1200 and scratch of kernels of stage 0 at 1024 overlap"},
    {"OverInput",
     [](ProgramT &p) { p.ranks[0]->inputs[1]->buffer = std::make_unique<Buffer>(Space::Microbatch, 1400, 32); },
     "stage 0 input 'Tokens' at 1400 and scratch of kernels of stage 0 at 1024 overlap"},
    {"OverOutput",
     [](ProgramT &p) { p.ranks[0]->outputs[0]->buffer = std::make_unique<Buffer>(Space::Arena, 1540, 4); },
     "stage 0 output Loss at 1540 and workspace of products of stage 0 at 1536 overlap"},
    {"OverBuffer",
     [](ProgramT &p) { p.ranks[0]->bodies[1]->instructions[0]->buffers[1] = Buffer(Space::Arena, 1024, 24); },
     "stage 0 body 'forward_0' instruction 0 buffer 1 at 1024 and scratch of kernels of stage 0 at 1024 overlap"},
    {"TooLittle", [](ProgramT &p) { p.kernels[2]->gpu->scratchBytes = 513; },
     "stage 0 body 'forward_0' instruction 0: kernel 'sample_forward0' needs 513 bytes of scratch, the stage has 512"}};

static const Case epilogueCases[] = {
    {"Enum", [](ProgramT &p) { product(p, Epilogue(7), {}); },
     "stage 0 body 'forward_0' instruction 0: epilogue 7, expected 0 to 6"},
    {"OfKernel", [](ProgramT &p) { p.ranks[0]->bodies[1]->instructions[0]->epilogue = Epilogue::Bias; },
     "stage 0 body 'forward_0' instruction 0: epilogue Bias of Kernel, expected Gemm"},
    {"Buffers", [](ProgramT &p) { product(p, Epilogue::BiasGelu, {12}); },
     "stage 0 body 'forward_0' instruction 0: 4 buffers, expected 5"},
    {"BuffersOfNone", [](ProgramT &p) { product(p, Epilogue::None, {12}); },
     "stage 0 body 'forward_0' instruction 0: 4 buffers, expected 3"},
    {"Bias", [](ProgramT &p) { product(p, Epilogue::Bias, {8}); },
     "stage 0 body 'forward_0' instruction 0: bias of 1 x 3 (leading dimension 3, batch 1 with stride 0) exceeds its "
     "buffer of 8 bytes"},
    {"Before", [](ProgramT &p) { product(p, Epilogue::BiasGelu, {12, 40}); },
     "stage 0 body 'forward_0' instruction 0: the matrix before gelu of 2 x 3 (leading dimension 8, batch 1 with "
     "stride 0) exceeds its buffer of 40 bytes"},
    {"SumB", [](ProgramT &p) { product(p, Epilogue::SumB, {8}); },
     "stage 0 body 'forward_0' instruction 0: the sum of 1 x 3 (leading dimension 3, batch 1 with stride 0) exceeds "
     "its buffer of 8 bytes"},
    {"BeforeWithoutBias", [](ProgramT &p) { product(p, Epilogue::Gelu, {40}); },
     "stage 0 body 'forward_0' instruction 0: the matrix before gelu of 2 x 3 (leading dimension 8, batch 1 with "
     "stride 0) exceeds its buffer of 40 bytes"},
    {"SumA", [](ProgramT &p) { product(p, Epilogue::SumA, {4}); },
     "stage 0 body 'forward_0' instruction 0: the sum of 1 x 2 (leading dimension 2, batch 1 with stride 0) exceeds "
     "its buffer of 4 bytes"},
    {"Eights", [](ProgramT &p) { product(p, Epilogue::GeluGrad, {24}, false, 1, 3); },
     "stage 0 body 'forward_0' instruction 0: epilogue GeluGrad with a leading dimension of C of 3, expected a "
     "multiple of 8"},
    {"Added", [](ProgramT &p) { product(p, Epilogue::Bias, {12}, true); },
     "stage 0 body 'forward_0' instruction 0: epilogue Bias accumulates, expected SumA or SumB"},
    {"Batch", [](ProgramT &p) { product(p, Epilogue::Bias, {12}, false, 2); },
     "stage 0 body 'forward_0' instruction 0: epilogue Bias with a batch of 2, expected 1"}};

INSTANTIATE_TEST_SUITE_P(Code, GpuSemantic, testing::ValuesIn(codeCases), caseName);
INSTANTIATE_TEST_SUITE_P(Memory, GpuSemantic, testing::ValuesIn(memoryCases), caseName);
INSTANTIATE_TEST_SUITE_P(Epilogues, GpuSemantic, testing::ValuesIn(epilogueCases), caseName);
