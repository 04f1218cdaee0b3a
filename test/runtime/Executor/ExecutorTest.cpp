// Parts of the executor alone: initial values, communicators of the cluster, CPU features, traces, options. Whole runs
// are in test/tools/hocket-run.
#include "SampleProgram.h"
#include "runtime/Executor/CpuFeatures.h"
#include "runtime/Executor/Groups.h"
#include "runtime/Executor/InitialValues.h"
#include "runtime/Executor/RunOptions.h"
#include "runtime/Executor/StepRunner.h"
#include "runtime/Program/Random.h"
#include <cmath>
#include <cstring>
#include <fstream>
#include <gmock/gmock.h>
#include <limits>
#include <nlohmann/json.hpp>

using namespace hocket;
using namespace hocket::runtime;
using testing::ElementsAre;

namespace {
// A state tensor by itself.
struct OneState {
  flatbuffers::FlatBufferBuilder builder;
  const program::State *state;
  OneState(std::vector<uint64_t> shape, std::vector<std::vector<program::AxisRef>> split, program::InitKind init,
           double scale, uint64_t bytes) {
    program::StateT from;
    from.name = "h.0.weight";
    from.shape = std::move(shape);
    for (auto &axes : split) {
      from.split.push_back(std::make_unique<program::DimSplitT>());
      from.split.back()->axes = axes;
    }
    from.init = init;
    from.scale = scale;
    from.buffer = std::make_unique<program::Buffer>(program::Space::Arena, 0, bytes);
    builder.Finish(program::CreateState(builder, &from));
    state = flatbuffers::GetRoot<program::State>(builder.GetBufferPointer());
  }
};
} // namespace

TEST(InitialValues, BlocksAreTheGeneratorsNumbers) {
  uint64_t stream = program::streamOf("wte");
  for (uint64_t block : {uint64_t(0), uint64_t(7), uint64_t(1) << 40})
    for (uint64_t lane = 0; lane < 4; ++lane)
      EXPECT_EQ(normalBlock(99, stream, block)[lane], program::standardNormal(99, stream, 4 * block + lane));
}

// A 5 x 7 tensor, its rows over a and columns over b: every rank's box holds what the whole tensor holds there, to the
// last bit, and zero elsewhere.
TEST(InitialValues, ShardsArePartsOfTheWhole) {
  program::Mesh mesh({{"a", 2}, {"b", 3}});
  ThreadPool pool(2);
  OneState split({5, 7}, {{program::AxisRef(0, 1, 2)}, {program::AxisRef(1, 1, 3)}}, program::InitKind::Normal, 0.02,
                 36 + 64);
  for (uint32_t rank = 0; rank < 6; ++rank) {
    std::vector<float> shard(25, 7.0f); // 3 x 3 and alignment
    initialise(shard.data(), *split.state, mesh, rank, 11, pool);
    std::vector<program::Range> box = program::box(mesh, rank, *split.state);
    for (uint64_t i = 0; i < 25; ++i) {
      uint64_t row = box[0].begin + i / 3, column = box[1].begin + i % 3;
      bool real = i < 9 && row < box[0].end && column < box[1].end;
      float expected =
          real ? static_cast<float>(program::initialNormal(11, "h.0.weight", row * 7 + column, 0.02)) : 0.0f;
      EXPECT_EQ(shard[i], expected) << "rank " << rank << " element " << i;
    }
  }
}

TEST(InitialValues, OnesConstantsAndScalars) {
  program::Mesh mesh({{"a", 2}});
  ThreadPool pool(1);
  float values[4] = {7, 7, 7, 7};
  initialise(values, *OneState({3}, {{program::AxisRef(0, 1, 2)}}, program::InitKind::Ones, 0, 16).state, mesh, 1, 1,
             pool);
  EXPECT_THAT(values, ElementsAre(1, 0, 0, 0));
  initialise(values, *OneState({}, {}, program::InitKind::Constant, 2.5, 8).state, mesh, 0, 1, pool);
  EXPECT_THAT(values, ElementsAre(2.5, 0, 0, 0));
  initialise(values, *OneState({2}, {}, program::InitKind::Zeros, 2.5, 8).state, mesh, 0, 1, pool);
  EXPECT_THAT(values, ElementsAre(0, 0, 0, 0));
}

TEST(Groups, EveryCommunicatorOfTheCluster) {
  std::vector<uint8_t> file = program::write(sample::sampleProgram());
  const program::Program &sample = *program::GetProgram(file.data() + sizeof(program::FileHeader));
  GroupTable table = groupsOf(program::Mesh(sample), sample);
  std::vector<std::vector<int>> ranks;
  std::vector<std::string> names;
  for (const Group &group : table.groups) {
    EXPECT_EQ(group.id, ranks.size());
    ranks.push_back(group.ranks);
    names.push_back(group.name);
  }
  EXPECT_THAT(names, ElementsAre("pp,dp", "dp", "dp", "pp 0->1", "pp 0->1", "pp 1->0", "pp 1->0"));
  EXPECT_THAT(ranks, ElementsAre(ElementsAre(0, 1, 2, 3), ElementsAre(0, 1), ElementsAre(2, 3), ElementsAre(0, 2),
                                 ElementsAre(1, 3), ElementsAre(2, 0), ElementsAre(3, 1)));
  EXPECT_THAT(table.groupOf[1], ElementsAre(1, 1, 2, 2));
}

TEST(Groups, TiedParameterOnSomeStages) {
  program::ProgramT from;
  from.axes.push_back(std::make_unique<program::AxisT>());
  from.axes.back()->name = "pp";
  from.axes.back()->size = 4;
  from.communicators.push_back(std::make_unique<program::CommunicatorT>());
  from.communicators.back()->name = "tied";
  from.communicators.back()->axes = {program::AxisRef(0, 1, 4)};
  from.communicators.back()->coordinates = {0, 3};
  std::vector<uint8_t> file = program::write(from);
  const program::Program &program = *program::GetProgram(file.data() + sizeof(program::FileHeader));
  GroupTable table = groupsOf(program::Mesh(program), program);
  ASSERT_EQ(table.groups.size(), 2u); // and that of all ranks
  EXPECT_THAT(table.groups[0].ranks, ElementsAre(0, 3));
  EXPECT_THAT(table.groupOf[0], ElementsAre(0, -1, -1, 0));
  EXPECT_EQ(table.everyone, 1u);
  EXPECT_THAT(table.groups[1].ranks, ElementsAre(0, 1, 2, 3));
  EXPECT_EQ(table.communicatorOf[1], GroupTable::none);
}

TEST(CpuFeatures, NamesOfLlvmAndLinux) {
  std::string flags = "fpu sse4_2 avx512f avx512_vnni amx_bf16 pni abm bmi1";
  EXPECT_THAT(
      missingFeatures({"sse4.2", "avx512f", "avx512vnni", "amx-bf16", "sse3", "lzcnt", "bmi", "evex512"}, flags),
      ElementsAre());
  EXPECT_THAT(missingFeatures({"avx2", "avx512bf16", "fma"}, flags), ElementsAre("avx2", "avx512bf16", "fma"));
}

namespace {
template <class T> std::optional<uint64_t> firstOf(program::DType type, const T *data, uint64_t count) {
  return firstNotFinite(type, data, std::vector{count}, std::vector{count});
}
constexpr float infinity = std::numeric_limits<float>::infinity();
} // namespace

TEST(FirstNotFinite, FindsInfinitiesAndNaNs) {
  std::vector<float> numbers(10, std::numeric_limits<float>::max());
  EXPECT_EQ(firstOf(program::DType::F32, numbers.data(), 10), std::nullopt);
  numbers[6] = -infinity;
  numbers[8] = std::nanf("");
  EXPECT_EQ(firstOf(program::DType::F32, numbers.data(), 10), 6u);
  EXPECT_EQ(firstOf(program::DType::F32, numbers.data(), 6), std::nullopt);
  double wide[2] = {1e308, std::nan("")};
  EXPECT_EQ(firstOf(program::DType::F64, wide, 2), 1u);
  uint16_t half[2] = {0x7BFF, 0x7C00}; // largest f16, infinity; as bf16 both are finite
  EXPECT_EQ(firstOf(program::DType::F16, half, 2), 1u);
  EXPECT_EQ(firstOf(program::DType::BF16, half, 2), std::nullopt);
  uint16_t brain[2] = {0x7F7F, 0xFF80}; // largest bf16, -infinity
  EXPECT_EQ(firstOf(program::DType::BF16, brain, 2), 1u);
  int32_t integers[1] = {-1};
  EXPECT_EQ(firstOf(program::DType::I32, integers, 1), std::nullopt);
}

TEST(FirstNotFinite, LeavesPaddingOut) {
  std::vector<float> shard(3 * 4, infinity); // of which 2 x 3 is real
  const std::vector<uint64_t> padded{3, 4}, real{2, 3}, nothing{0, 3};
  EXPECT_EQ(firstNotFinite(program::DType::F32, shard.data(), padded, nothing), std::nullopt);
  for (uint64_t row = 0; row < 2; ++row)
    std::fill_n(shard.begin() + static_cast<long>(4 * row), 3, 1.0f);
  EXPECT_EQ(firstNotFinite(program::DType::F32, shard.data(), padded, real), std::nullopt);
  shard[6] = infinity;
  EXPECT_EQ(firstNotFinite(program::DType::F32, shard.data(), padded, real), 6u);
  const float scalar = infinity;
  EXPECT_EQ(firstNotFinite(program::DType::F32, &scalar, {}, {}), 0u);
}

TEST(FirstNotFinite, InfinitiesThatBelongThere) {
  const float values[3] = {-infinity, infinity, std::nanf("")};
  const std::vector<uint64_t> one{1}, three{3};
  auto first = [&](program::Infinities allowed) {
    return firstNotFinite(program::DType::F32, values, three, three, allowed);
  };
  EXPECT_EQ(first(program::Infinities::None), 0u);
  EXPECT_EQ(first(program::Infinities::Negative), 1u);
  EXPECT_EQ(first(program::Infinities::Positive), 0u);
  EXPECT_EQ(first(program::Infinities::Both), 2u);
}

TEST(RunOptions, TravelAsJson) {
  RunOptions options;
  options.rank = 3;
  options.seed = UINT64_MAX;
  options.data = {"a \"quoted\" name", DataFormat::U32, 3, 0, true, false};
  options.dumpSteps = {0, 5};
  Result<RunOptions> back = RunOptions::parse(options.json());
  ASSERT_TRUE(back);
  EXPECT_EQ(back->json(), options.json());
  EXPECT_EQ(back->seed, UINT64_MAX);
  EXPECT_EQ(back->data.format, DataFormat::U32);
  EXPECT_EQ(back->data.documentEnd, 3u);
  EXPECT_EQ(back->data.padding, 0u);
  EXPECT_TRUE(back->data.maskDocumentEnds && !back->data.shuffle);
  EXPECT_THAT(RunOptions::parse("{}").error().message,
              testing::StartsWith("HOCKET_RUN does not hold what a launcher writes; only hocket-run sets it"));
}

TEST(Trace, PartsMakeOneDocument) {
  std::string path = testing::TempDir() + "hocket-trace-test.json";
  std::vector<std::string> parts;
  for (int rank : {0, 1}) {
    Trace trace;
    trace.add(
        {"forward", 0, 2, 1, Trace::Time(std::chrono::microseconds(5)), Trace::Time(std::chrono::microseconds(9))});
    parts.push_back(path + std::to_string(rank));
    ASSERT_TRUE(trace.write(parts.back(), rank, "dp=" + std::to_string(rank), {"compute"}));
  }
  ASSERT_TRUE(Trace::merge(path, parts));
  std::ifstream file(path);
  nlohmann::json events = nlohmann::json::parse(file).at("traceEvents");
  ASSERT_EQ(events.size(), 9u); // two names, the machine and one event of each rank, and the end
  EXPECT_GE(events[1]["args"]["processors"], 1);
  EXPECT_EQ(events[7]["name"], "forward");
  EXPECT_EQ(events[7]["pid"], 1);
  EXPECT_EQ(events[7]["ts"], 5.0);
  EXPECT_EQ(events[7]["dur"], 4.0);
  EXPECT_FALSE(std::ifstream(parts[0]));
  std::remove(path.c_str());
}
