// A pass on the emulator, of a program of one rank whose every wait for an event is needed: under every order of
// streams it gives what it should, queued and as a graph, and without one of its waits some order shows it.
#include "runtime/Executor/DeviceStep.h"
#include "Emulator/EmulatorTesting.h"
#include "runtime/Comm/CallLog.h"
#include "runtime/Device/Emulator/EmulatorDevice.h"
#include "runtime/Program/ProgramFile.h"
#include <fmt/format.h>
#include <fstream>

using namespace hocket;
using namespace hocket::runtime;

namespace {
constexpr uint64_t count = 64, bytes = count * sizeof(int64_t);
enum Text : uint32_t { None, Scale, Move, Line };

struct AloneWorld : World {
  int rank() const override { return 0; }
  int size() const override { return 1; }
  std::span<std::byte> arena() override { return {}; }
  Result<std::unique_ptr<Communicator>> communicator(const Group &, Deadline) override { return Error{}; }
  void abort(std::string_view) override {}
};

// b[block] = a[block] * factor
std::string scaleText() {
  return test::kernelText("ptr addrspace(1) %a, ptr addrspace(1) %b, i64 %factor", R"(
  %from = getelementptr i64, ptr addrspace(1) %a, i32 %block
  %x = load i64, ptr addrspace(1) %from, align 8
  %y = mul i64 %x, %factor
  %to = getelementptr i64, ptr addrspace(1) %b, i32 %block
  store i64 %y, ptr addrspace(1) %to, align 8
  ret void)");
}

// Writes far behind b.
std::string strayText() {
  return test::kernelText("ptr addrspace(1) %a, ptr addrspace(1) %b, i64 %factor", R"(
  %to = getelementptr i64, ptr addrspace(1) %b, i32 1000000
  store i64 %factor, ptr addrspace(1) %to, align 8
  ret void)");
}

program::Buffer x(program::Space::Arena, 0, bytes), y(program::Space::Arena, bytes, bytes),
    z(program::Space::Arena, 2 * bytes, bytes), w(program::Space::Arena, 3 * bytes, bytes),
    onHost(program::Space::Host, 0, bytes);

std::unique_ptr<program::InstructionT> instruction(program::Op op, std::vector<program::Buffer> buffers,
                                                   uint8_t stream = 0) {
  auto made = std::make_unique<program::InstructionT>();
  made->op = op;
  made->buffers = std::move(buffers);
  made->stream = stream;
  made->what = op == program::Op::Kernel ? Scale : Move;
  made->source = Line;
  return made;
}
std::unique_ptr<program::InstructionT> scale(program::Buffer from, program::Buffer to, uint32_t scalar) {
  auto made = instruction(program::Op::Kernel, {from, to});
  made->scalars = {scalar};
  return made;
}
std::unique_ptr<program::InstructionT> await(uint32_t awaited) {
  auto made = instruction(program::Op::Await, {}, 1);
  made->awaited = awaited;
  return made;
}

using Instructions = std::vector<std::unique_ptr<program::InstructionT>>;

// x becomes 9 x by way of the host, y 15 x, w what z was: 3 x of the pass before.
Instructions allNeeded() {
  Instructions all;
  auto add = [&](std::unique_ptr<program::InstructionT> each) { all.push_back(std::move(each)); };
  add(scale(x, y, 1));
  add(instruction(program::Op::Transfer, {y, onHost}, 1)); // after y is there
  add(scale(z, w, 0));
  add(await(1)); // before y changes
  add(scale(x, y, 2));
  add(scale(y, y, 1));
  add(instruction(program::Op::Transfer, {onHost, z}, 1)); // after z was read
  add(await(2));                                           // before z is read
  add(scale(z, x, 1));
  return all;
}

// What is started twice in a row needs one wait, and so does what is awaited twice in a row, whatever is started
// meanwhile.
Instructions twoNeeded() {
  Instructions all;
  all.push_back(scale(x, y, 1));
  all.push_back(instruction(program::Op::Transfer, {y, onHost}, 1));
  all.push_back(instruction(program::Op::Transfer, {onHost, z}, 1));
  all.push_back(await(1));
  all.push_back(instruction(program::Op::Transfer, {y, onHost}, 1));
  all.push_back(await(3));
  all.push_back(scale(z, y, 1));
  all.push_back(await(3));
  return all;
}

program::ProgramT programOf(std::string code, Instructions instructions) {
  program::ProgramT program;
  program.target = "cuda";
  program.strings = {"", "scale", "to and fro", "model.mlir:3:4"};
  program.axes.push_back(std::make_unique<program::AxisT>());
  program.axes.back()->name = "dp";
  program.axes.back()->size = 1;
  program.microbatches = 1;
  for (uint64_t factor : {1, 3, 5}) {
    program.scalars.push_back(std::make_unique<program::RankScalarT>());
    program.scalars.back()->kind = program::RankScalarKind::Number;
    program.scalars.back()->size = factor;
  }
  auto kernel = std::make_unique<program::KernelT>();
  kernel->symbol = "scale";
  kernel->gpu = std::make_unique<program::GpuCodeT>();
  kernel->gpu->bitcode.assign(code.begin(), code.end());
  kernel->gpu->launches.push_back(std::make_unique<program::GpuLaunchT>());
  kernel->gpu->launches.back()->symbol = "k";
  kernel->gpu->launches.back()->shape = std::make_unique<program::GpuShape>(count, 1, 1, 1, 1, 1, 0);
  program.kernels.push_back(std::move(kernel));
  auto rank = std::make_unique<program::RankProgramT>();
  rank->arenaBytes = 4 * bytes;
  rank->hostBytes = bytes;
  rank->bodyStreams = {"offload"};
  auto body = std::make_unique<program::BodyT>();
  body->name = "forward";
  body->kind = program::BodyKind::Forward;
  body->instructions = std::move(instructions);
  rank->bodies.push_back(std::move(body));
  auto entry = std::make_unique<program::EntryT>();
  entry->name = program::trainEntry;
  entry->streams = {"compute"};
  uint32_t none[8] = {};
  entry->rows.emplace_back(program::RowKind::Body, 0, 0, 0, 0, flatbuffers::span<const uint32_t, 8>(none));
  rank->entries.push_back(std::move(entry));
  program.ranks.push_back(std::move(rank));
  return program;
}

// The rank of such a program, with x = 1, 2, 3, …
struct OneRank {
  explicit OneRank(uint64_t seed, const std::string &code = scaleText(), bool check = true,
                   Instructions instructions = allNeeded())
      : file(program::write(programOf(code, std::move(instructions)))),
        program(*program::GetProgram(file.data() + sizeof(program::FileHeader))),
        device(seed, hocket::test::checking(check)),
        context(program, 0, static_cast<std::byte *>(*device.allocate(4 * bytes)), world, world, status, device),
        entry(*context.own.entries()->Get(0)) {
    EXPECT_TRUE(context.reserveHost());
    EXPECT_TRUE(context.loadKernels());
    EXPECT_TRUE(context.memory->write(context.arena, bytes, [](std::byte *to) {
      for (uint64_t i = 0; i < count; ++i)
        reinterpret_cast<int64_t *>(to)[i] = static_cast<int64_t>(i + 1);
      return Status();
    }));
  }
  // Whether a buffer is this many times what x was.
  bool is(const program::Buffer &buffer, int64_t times) {
    auto read = context.memory->read(context.address(buffer, 0, 0), bytes);
    for (uint64_t i = 0; read && i < count; ++i)
      if (reinterpret_cast<const int64_t *>(read->data())[i] != static_cast<int64_t>(i + 1) * times)
        return false;
    return bool(read);
  }

  std::vector<uint8_t> file;
  const program::Program &program;
  emulator::EmulatorDevice device;
  AloneWorld world;
  RankStatus status;
  RankContext context;
  const program::Entry &entry;
};

// Three passes, of which the last two are launches of a graph.
bool passesAreRight(uint64_t seed, bool check = true) {
  OneRank rank(seed, scaleText(), check);
  DeviceStep step(rank.context, rank.entry);
  int64_t times = 1;
  bool right = true;
  for (uint64_t number = 1; number <= 3; ++number) {
    Status ran = step.run(number);
    EXPECT_TRUE(ran) << ran.error().message;
    right &= rank.is(w, number == 1 ? 0 : times / 3) && rank.is(y, 15 * times) && rank.is(x, 9 * times);
    times *= 9;
  }
  return right;
}
} // namespace

TEST(DeviceStep, GivesTheSameUnderEveryOrderOfStreams) {
  for (uint64_t seed = 0; seed < 20; ++seed)
    EXPECT_TRUE(passesAreRight(seed)) << "seed " << seed;
}

TEST(DeviceStep, SomeOrderShowsAWaitThatIsMissing) {
  for (int drop = 1; drop <= 4; ++drop) {
    setenv("HOCKET_DROP_WAIT", fmt::format("0@{}", drop).c_str(), 1);
    int wrong = 0;
    for (uint64_t seed = 0; seed < 20; ++seed)
      wrong += !passesAreRight(seed, /*check=*/false);
    EXPECT_GT(wrong, 0) << "wait " << drop;
  }
  unsetenv("HOCKET_DROP_WAIT");
}

// With the checker no order hides it: both pieces of work are named, with what they are in the model.
TEST(DeviceStep, EveryOrderTellsOfAWaitThatIsMissing) {
  for (int drop = 1; drop <= 4; ++drop) {
    setenv("HOCKET_DROP_WAIT", fmt::format("0@{}", drop).c_str(), 1);
    for (uint64_t seed = 0; seed < 20; ++seed) {
      OneRank rank(seed);
      Status ran = DeviceStep(rank.context, rank.entry).run(1);
      ASSERT_FALSE(ran) << "wait " << drop << ", seed " << seed;
      EXPECT_EQ(ran.error().kind, ErrorKind::Mismatch); // exit status 3
      EXPECT_THAT(ran.error().message,
                  testing::MatchesRegex(
                      "step 1, microbatch 0, forward, (scale|to and fro) \\(model.mlir:3:4\\): (a copy|kernel "
                      "\"k\") (reads|writes) [0-9]+ bytes at byte [0-9]+ of \"(device|host) memory 0\", "
                      "which (a copy|kernel \"k\") \\(step 1, microbatch 0, forward, (scale|to and fro) "
                      "\\(model.mlir:3:4\\)\\) (reads|writes), and no event orders the two"));
    }
  }
  unsetenv("HOCKET_DROP_WAIT");
}

TEST(DeviceStep, LeavesOutWaitsThatOthersImply) {
  std::string path = testing::TempDir() + "/DeviceStepCalls";
  for (bool needed : {true, false}) {
    OneRank rank(1, scaleText(), true, needed ? allNeeded() : twoNeeded());
    std::unique_ptr<CallLog> log = std::move(*CallLog::create(path));
    rank.context.calls = log.get();
    Status ran = DeviceStep(rank.context, rank.entry).run(1);
    EXPECT_TRUE(ran) << ran.error().message;
    std::ifstream file(path);
    std::string line;
    std::getline(file, line);
    EXPECT_EQ(line, fmt::format(R"({{"pass": "queued", "step": 1, "waits": {}}})", needed ? 4 : 2));
  }
}

TEST(DeviceStep, AFaultOfAKernelIsTheRanksAndNamesTheLine) {
  OneRank rank(1, strayText());
  DeviceStep step(rank.context, rank.entry);
  Status ran = step.run(1);
  ASSERT_FALSE(ran);
  EXPECT_EQ(ran.error().kind, ErrorKind::Mismatch); // exit status 3
  EXPECT_THAT(ran.error().message, testing::StartsWith("step 1, microbatch 0, forward, scale (model.mlir:3:4): kernel "
                                                       "\"k\", block (0,0,0), thread (0,0,0): writes 8 bytes"));
  EXPECT_THAT(ran.error().message, testing::HasSubstr("`store i64 %factor, ptr addrspace(1) %to, align 8`"));
}

// Where the device is stands in the rank's status, as the watchdog reads it.
TEST(DeviceStep, SaysWhereItIs) {
  OneRank rank(3);
  DeviceStep step(rank.context, rank.entry);
  ASSERT_TRUE(step.run(1));
  EXPECT_EQ(rank.status.row.load(), 0u);
  EXPECT_EQ(rank.status.body.load(), 0u);
  EXPECT_EQ(rank.status.state.load(), RankState::Computing);
  EXPECT_GT(rank.status.heartbeat.load(), 3u);
}
