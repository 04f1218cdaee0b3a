// Programs of the main job under plans: proved by step-verify-program, accepted by the runtime's own check, byte for
// byte the same each time.
#include "passes/StepToProgram/StepToProgram.h"
#include "runtime/Program/ProgramFile.h"
#include "test/passes/Step/StepPrograms.h"
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sstream>

using namespace mlir;
using namespace hocket;

namespace {
const char *const extraPlans = R"(
dist.mesh @line<"pp"=2>
dist.plan @two for @gpt on @line {
  batch microbatch 2 sequences
  stages over "pp" schedule "1f1b"
}
dist.plan @host for @gpt on @line {
  batch microbatch 2 sequences
  stages over "pp" schedule "1f1b"
  offload activations
  offload parameters "wte"
}
dist.mesh @pair<"dp"=2>
dist.plan @zero for @gpt on @pair {
  batch over "dp" microbatch 2 sequences
  zero 1 over "dp"
}
)";

std::string mainJob() {
  std::stringstream text;
  text << std::ifstream(HOCKET_EXAMPLES "/gpt-bible/model.mlir").rdbuf() << extraPlans;
  return text.str();
}

struct Compiled : hocket::test::StepPrograms {
  Compiled(const std::string &plan, int rows, int microbatches) : StepPrograms(mainJob(), plan, rows, microbatches) {}

  /// The file, starting at a multiple of 64 as `open` wants it.
  std::vector<uint8_t> file() {
    std::optional<program::ProgramT> program = step::buildProgram(*module, {.march = "x86-64"});
    return program ? program::write(*program) : std::vector<uint8_t>();
  }
};

struct Opened {
  void *bytes;
  program::Opened opened;
  explicit Opened(const std::vector<uint8_t> &file) : bytes(std::aligned_alloc(64, (file.size() + 63) / 64 * 64)) {
    std::copy(file.begin(), file.end(), static_cast<uint8_t *>(bytes));
    opened = program::open({static_cast<uint8_t *>(bytes), file.size()});
  }
  ~Opened() { std::free(bytes); }
};

uint64_t memoryOf(const program::RankProgram &rank) {
  uint64_t sum = 0;
  for (const program::MemoryUse *use : *rank.memory())
    sum += use->bytes();
  return sum;
}

class Plans : public testing::TestWithParam<std::tuple<const char *, int, int, int>> {
}; // plan, rows, microbatches, stages
} // namespace

TEST_P(Plans, GiveAProgramThatTheRuntimeAccepts) {
  auto [plan, rows, microbatches, stages] = GetParam();
  Compiled compiled(plan, rows, microbatches);
  ASSERT_TRUE(compiled.module) << compiled.faults;
  std::vector<uint8_t> file = compiled.file();
  Opened opened(file);
  EXPECT_THAT(opened.opened.faults, testing::IsEmpty());
  ASSERT_TRUE(opened.opened.program);
  const program::Program &program = *opened.opened.program;
  EXPECT_EQ(program.parameters(), 4837376u);
  EXPECT_EQ(program.ranks()->size(), static_cast<unsigned>(stages));
  for (const program::RankProgram *rank : *program.ranks())
    EXPECT_EQ(memoryOf(*rank), rank->arenaBytes()) << "stage " << rank->stage();
  EXPECT_EQ(file, Compiled(plan, rows, microbatches).file()) << "a second compilation gives other bytes";
}
INSTANTIATE_TEST_SUITE_P(GptBible, Plans,
                         testing::Values(std::tuple("two", 2, 16, 2), std::tuple("single", 2, 16, 1),
                                         std::tuple("zero", 4, 8, 1), std::tuple("ptd", 4, 8, 2)),
                         [](const auto &info) { return std::string(std::get<0>(info.param)); });

TEST(StepToProgram, UpdateCopiesNoParameter) {
  for (auto [plan, rows] : {std::pair("two", 2), std::pair("zero", 4), std::pair("ptd", 4)}) {
    Compiled compiled(plan, rows, 32 / rows);
    ASSERT_TRUE(compiled.module) << plan << ": " << compiled.faults;
    compiled.module->walk([&](step::LaunchOp launch) {
      auto body = launch->getParentOfType<step::BodyOp>();
      int64_t bytes = launch.getOuts().empty() ? 0 : step::byteSize(cast<ShapedType>(launch.getOuts()[0].getType()));
      EXPECT_FALSE(launch.getKernel().starts_with("copy") && bytes > 64)
          << plan << ", " << step::stringifyBodyKind(body.getKind()).str() << ": copies " << bytes << " bytes";
    });
  }
}

/// Transfers of a stage's entry to the host's slots, and those from the host's arena.
std::pair<int, int> transfersOf(const program::RankProgram &rank, const char *name) {
  int toSlots = 0, fromArena = 0;
  for (const program::Entry *entry : *rank.entries())
    for (const program::Row *row : *entry->rows())
      if (entry->name()->string_view() == name && row->kind() == program::RowKind::Body)
        for (const program::Instruction *each : *rank.bodies()->Get(row->index())->instructions())
          if (each->op() == program::Op::Transfer) {
            toSlots += each->buffers()->Get(1)->space() == program::Space::HostSlot;
            fromArena += each->buffers()->Get(0)->space() == program::Space::Host;
          }
  return {toSlots, fromArena};
}

// Nobody fetches what forward leaves for backward; a parameter in the host's memory is needed all the same.
TEST(StepToProgram, AnEvaluationCopiesNoActivationOut) {
  Compiled compiled("host", 2, 16);
  ASSERT_TRUE(compiled.module) << compiled.faults;
  std::vector<uint8_t> file = compiled.file();
  Opened opened(file);
  EXPECT_THAT(opened.opened.faults, testing::IsEmpty());
  ASSERT_TRUE(opened.opened.program);
  for (const program::RankProgram *rank : *opened.opened.program->ranks()) {
    auto [trained, trainedWith] = transfersOf(*rank, program::trainEntry);
    auto [evaluated, evaluatedWith] = transfersOf(*rank, program::evalEntry);
    EXPECT_GT(trained, 0) << "stage " << rank->stage();
    EXPECT_GT(trainedWith, 0) << "stage " << rank->stage();
    EXPECT_EQ(evaluated, 0) << "stage " << rank->stage();
    EXPECT_GE(evaluatedWith, 16) << "stage " << rank->stage();
  }
}

TEST(StepToProgram, RefusesWhatHasNoMemoryPlan) {
  Compiled compiled("two", 2, 16);
  ASSERT_TRUE(compiled.module) << compiled.faults;
  auto program = *compiled.module->getOps<step::ProgramOp>().begin();
  program.removeArenaBytesAttr();
  EXPECT_FALSE(step::buildProgram(*compiled.module, {}));
  EXPECT_THAT(compiled.faults, testing::HasSubstr("has no memory plan; run step-plan-memory first"));
}

TEST(StepToProgram, RefusesATableThatNamesWhatIsNotThere) {
  Compiled compiled("two", 2, 16);
  ASSERT_TRUE(compiled.module) << compiled.faults;
  auto program = *compiled.module->getOps<step::ProgramOp>().begin();
  (*program.ops<step::MessageOp>().begin())->erase();
  EXPECT_FALSE(step::buildProgram(*compiled.module, {}));
  EXPECT_THAT(compiled.faults,
              testing::HasSubstr("names the message 'activation from 0 to 1', which the program does not have"));
}

// The greatest logit of a shard of the vocabulary is still to be reduced by max: on a rank without one it is -inf. So
// is the log-sum-exp of a query that sees no key. Nothing else may be infinite.
TEST(StepToProgram, TellsWhatInstructionsWrite) {
  Compiled compiled("ptd", 4, 8);
  ASSERT_TRUE(compiled.module) << compiled.faults;
  std::optional<program::ProgramT> program = step::buildProgram(*compiled.module, {});
  ASSERT_TRUE(program);
  int split = 0, maxima = 0, sums = 0;
  for (auto &rank : program->ranks)
    for (auto &body : rank->bodies)
      for (auto &instruction : body->instructions)
        for (const program::Written &written : instruction->written) {
          const std::string &name = program->strings[written.name()];
          for (auto &dim : program->shapes[written.shape()]->split)
            split += !dim->axes.empty();
          // The kernel of the maximum also picks the label's logit: its second result.
          bool maximum = name.find("row_max") != std::string::npos && !name.ends_with(".2") &&
                         instruction->op == program::Op::Kernel;
          bool logSumExp = name.ends_with("attention_lse");
          EXPECT_EQ(written.infinite(),
                    maximum || logSumExp ? program::Infinities::Negative : program::Infinities::None)
              << name;
          maxima += maximum;
          sums += logSumExp;
        }
  EXPECT_EQ(maxima, 1);
  EXPECT_EQ(sums, 6); // one a layer
  EXPECT_GT(split, 100);
}
