// A sound file whose content contradicts itself: one case per rule, each with the whole sentence.
#include "SampleProgram.h"
#include "SemanticCase.h"
#include <cstring>

using namespace hocket::program;
using hocket::sample::caseName;
using Case = hocket::sample::SemanticCase;

namespace {
class Semantic : public testing::TestWithParam<Case> {};

EntryT &train(ProgramT &program, int stage) { return *program.ranks[stage]->entries[0]; }
InstructionT &at(ProgramT &program, int stage, int body, int index) {
  return *program.ranks[stage]->bodies[body]->instructions[index];
}
void setWait(ProgramT &program, int stage, int row, int stream, uint32_t count) {
  // A row's waits are the last 32 of its 44 bytes; the generated class has no setter for arrays.
  std::memcpy(reinterpret_cast<uint8_t *>(&train(program, stage).rows[row]) + sizeof(Row) - 32 + 4 * stream, &count, 4);
}
Row changed(const Row &from, RowKind kind, uint8_t stream, uint16_t index, uint32_t microbatch, uint32_t slot) {
  return Row(kind, stream, index, microbatch, slot,
             flatbuffers::span<const uint32_t, 8>(reinterpret_cast<const uint32_t *>(from.wait()->Data()), 8));
}
// Stage 0 with the stream 'gradients', on which the update's reduction runs; `awaits`: how many of it are awaited, 0:
// none.
void addStream(ProgramT &program, uint32_t awaits) {
  RankProgramT &rank = *program.ranks[0];
  rank.bodyStreams = {"gradients"};
  at(program, 0, 3, 1).stream = 1;
  if (awaits == 0)
    return;
  auto await = std::make_unique<InstructionT>();
  await->op = Op::Await;
  await->stream = 1;
  await->awaited = awaits;
  rank.bodies[3]->instructions.push_back(std::move(await));
}
} // namespace

TEST_P(Semantic, IsNamed) {
  ProgramT program = hocket::sample::sampleProgram();
  GetParam().damage(program);
  std::vector<uint8_t> file = write(program);
  std::vector<std::string> faults = check(*GetProgram(file.data() + sizeof(FileHeader)));
  EXPECT_THAT(faults, testing::Contains(GetParam().fault));
}

static const Case meshCases[] = {
    {"AxisSize", [](ProgramT &p) { p.axes[1]->size = 0; },
     "axis 'dp' has size 0, expected at least 1 and at most 16777216 ranks in all"},
    {"AxisName", [](ProgramT &p) { p.axes[1]->name = "pp"; }, "axis name 'pp' is empty or used twice"},
    {"StageAxis", [](ProgramT &p) { p.stageAxis = 2; }, "stage axis is 2, expected -1 to 1"},
    {"StageCount", [](ProgramT &p) { p.ranks.pop_back(); }, "1 rank programs, expected one for each of 2 stages"},
    {"StageOrder", [](ProgramT &p) { p.ranks[1]->stage = 0; }, "rank program 1 is of stage 0, expected 1"},
    {"Threads", [](ProgramT &p) { p.threads = 0; }, "threads per rank is 0, expected 1 to 1024"},
    {"Batch", [](ProgramT &p) { p.globalBatch = 13; },
     "global batch is 13, expected 2 rows x 3 microbatches x 2 data shards"},
    {"Sequence", [](ProgramT &p) { p.sequence = 0; }, "sequence is 0, expected 1 to 2^31"},
    {"DataAxes", [](ProgramT &p) { p.dataAxes = {AxisRef(0, 1, 2)}; },
     "data axes: the stage axis cannot split the batch"},
    {"AxisIndex", [](ProgramT &p) { p.communicators[1]->axes = {AxisRef(2, 1, 2)}; },
     "communicator 'dp': axis 2, the program has 2"},
    {"AxisPart", [](ProgramT &p) { p.communicators[1]->axes = {AxisRef(1, 2, 2)}; },
     "communicator 'dp': part 2 x 2 of axis 'dp', expected divisors of its size 2"},
    {"AxisTwice", [](ProgramT &p) { p.communicators[1]->axes = {AxisRef(1, 1, 2), AxisRef(1, 1, 2)}; },
     "communicator 'dp': axis 'dp' is used twice"},
    {"EdgeAxis", [](ProgramT &p) { p.communicators[2]->axes = {AxisRef(1, 1, 2)}; },
     "communicator 'pp 0->1': an edge lies along the stage axis alone"},
    {"EdgeEnds", [](ProgramT &p) { p.communicators[2]->to = 0; },
     "communicator 'pp 0->1': edge from 0 to 0, expected two different stages of 2"},
    {"Coordinates", [](ProgramT &p) { p.communicators[1]->coordinates = {0, 0}; },
     "communicator 'dp': coordinate 0, expected different ones below 2"},
    {"CommunicatorKind", [](ProgramT &p) { p.communicators[1]->kind = CommunicatorKind(7); },
     "communicator 'dp': kind 7, expected 0 to 1"},
    {"ScalarAxes", [](ProgramT &p) { p.scalars[1]->axes = {AxisRef(1, 0, 2)}; },
     "rank-dependent number 1: part 0 x 2 of axis 'dp', expected divisors of its size 2"},
    {"Tiles", [](ProgramT &p) { p.kernels[3]->tiles = 0; },
     "kernel 3 'sample_forward1': 0 tiles, expected a symbol and at least 1 tile"},
    {"Arena", [](ProgramT &p) { p.ranks[0]->arenaBytes = uint64_t(1) << 50; },
     "stage 0: arena of 1125899906842624 bytes, expected at most 281474976710656"}};

static const Case bodyCases[] = {
    {"Slots", [](ProgramT &p) { p.ranks[0]->slotCount = 3; },
     "stage 0: 3 slots of 128 bytes at 640 lie outside the arena of 896 bytes"},
    {"BufferEnd", [](ProgramT &p) { at(p, 0, 1, 0).buffers[1] = Buffer(Space::Arena, 1080, 24); },
     "stage 0 body 'forward_0' instruction 0 buffer 1: 24 bytes at 1080 lie outside the arena of 896 bytes"},
    {"BufferWraps", [](ProgramT &p) { at(p, 0, 1, 0).buffers[2] = Buffer(Space::Slot, UINT64_MAX, 2); },
     "stage 0 body 'forward_0' instruction 0 buffer 2: 2 bytes at 18446744073709551615 lie outside the slot of 128 "
     "bytes"},
    {"BufferMicrobatch", [](ProgramT &p) { at(p, 0, 1, 0).buffers[0] = Buffer(Space::Microbatch, 1024, 32); },
     "stage 0 body 'forward_0' instruction 0 buffer 0: 3 x 32 bytes at 1024 lie outside the arena of 896 bytes"},
    {"BufferSpace", [](ProgramT &p) { at(p, 0, 1, 0).buffers[0] = Buffer(Space(5), 0, 32); },
     "stage 0 body 'forward_0' instruction 0 buffer 0: space 5, expected 0 to 4"},
    {"KernelIndex", [](ProgramT &p) { at(p, 0, 1, 0).kernel = 9; },
     "stage 0 body 'forward_0' instruction 0: kernel 9, the program has 9"},
    {"ScalarIndex", [](ProgramT &p) { at(p, 0, 3, 2).scalars = {0, 2}; },
     "stage 0 body 'update' instruction 2: rank-dependent number 2, the program has 2"},
    {"StringIndex", [](ProgramT &p) { at(p, 0, 1, 0).what = 10; },
     "stage 0 body 'forward_0' instruction 0: string 10, the program has 10"},
    {"WrittenBuffer", [](ProgramT &p) { at(p, 0, 3, 0).written = {Written(2, 1, 0, DType::F32, Infinities::None)}; },
     "stage 0 body 'update' instruction 0: buffer 2, the program has 2"},
    {"WrittenShape", [](ProgramT &p) { at(p, 0, 3, 0).written = {Written(1, 6, 0, DType::F32, Infinities::None)}; },
     "stage 0 body 'update' instruction 0: shape 6, the program has 6"},
    {"WrittenBytes", [](ProgramT &p) { at(p, 0, 3, 0).written = {Written(1, 1, 0, DType::F64, Infinities::None)}; },
     "stage 0 body 'update' instruction 0: writes a value of 16 bytes into buffer 1 of 8"},
    {"WrittenInfinities", [](ProgramT &p) { at(p, 0, 3, 0).written = {Written(1, 1, 0, DType::F32, Infinities(4))}; },
     "stage 0 body 'update' instruction 0: infinities of what it writes 4, expected 0 to 3"},
    {"OpEnum", [](ProgramT &p) { at(p, 0, 1, 0).op = Op(9); },
     "stage 0 body 'forward_0' instruction 0: op 9, expected 0 to 8"},
    {"CommunicatorIndex", [](ProgramT &p) { at(p, 0, 3, 0).communicator = 4; },
     "stage 0 body 'update' instruction 0: communicator 4, the program has 4"},
    {"CollectiveOnEdge", [](ProgramT &p) { at(p, 0, 3, 0).communicator = 2; },
     "stage 0 body 'update' instruction 0: AllReduce on 'pp 0->1', which is an edge, expected a group"},
    {"AllReduceSizes", [](ProgramT &p) { at(p, 1, 3, 1).buffers[1] = Buffer(Space::Arena, 0, 8); },
     "stage 1 body 'update' instruction 1: AllReduce on 'dp' of 2 ranks: 4 bytes in, 8 bytes out of type F32"},
    {"ReduceScatterSizes", [](ProgramT &p) { at(p, 0, 3, 1).buffers[1] = Buffer(Space::Arena, 0, 8); },
     "stage 0 body 'update' instruction 1: ReduceScatter on 'dp' of 2 ranks: 24 bytes in, 8 bytes out of type F32"},
    {"AllGatherSizes", [](ProgramT &p) { at(p, 0, 3, 3).buffers[0] = Buffer(Space::Arena, 0, 24); },
     "stage 0 body 'update' instruction 3: AllGather on 'dp' of 2 ranks: 24 bytes in, 24 bytes out of type F32"},
    {"Overlap", [](ProgramT &p) { at(p, 0, 3, 3).buffers[0] = Buffer(Space::Arena, 260, 12); },
     "stage 0 body 'update' instruction 3: AllGather on 'dp': in at 260 and out at 256 overlap"},
    {"GemmSizes",
     [](ProgramT &p) {
       at(p, 0, 1, 0).op = Op::Gemm;
       at(p, 0, 1, 0).gemm = std::make_unique<Gemm>(false, false, false, 2, 2, 4, 4, 2, 2, 1, 0, 0, 0);
       at(p, 0, 1, 0).buffers = {Buffer(Space::Arena, 0, 32), Buffer(Space::Arena, 64, 28),
                                 Buffer(Space::Arena, 128, 16)};
     },
     "stage 0 body 'forward_0' instruction 0: B of 4 x 2 (leading dimension 2, batch 1 with stride 0) exceeds its "
     "buffer of 28 bytes"},
    {"GemmLeading",
     [](ProgramT &p) {
       at(p, 0, 1, 0).op = Op::Gemm;
       at(p, 0, 1, 0).gemm = std::make_unique<Gemm>(true, false, false, 2, 2, 4, 1, 2, 2, 1, 0, 0, 0);
       at(p, 0, 1, 0).buffers = {Buffer(Space::Arena, 0, 32), Buffer(Space::Arena, 64, 32),
                                 Buffer(Space::Arena, 128, 16)};
     },
     "stage 0 body 'forward_0' instruction 0: leading dimension of A is 1, expected at least its 2 columns"},
    {"GemmEpilogue",
     [](ProgramT &p) {
       at(p, 0, 1, 0).op = Op::Gemm;
       at(p, 0, 1, 0).epilogue = Epilogue::Bias;
       at(p, 0, 1, 0).gemm = std::make_unique<Gemm>(false, false, false, 2, 2, 4, 4, 2, 2, 1, 0, 0, 0);
       at(p, 0, 1, 0).buffers = {Buffer(Space::Arena, 0, 32), Buffer(Space::Arena, 64, 32),
                                 Buffer(Space::Arena, 128, 16), Buffer(Space::Arena, 192, 8)};
     },
     "stage 0 body 'forward_0' instruction 0: epilogue Bias in a program for cpu, expected cuda"},
    {"GemmMissing", [](ProgramT &p) { at(p, 0, 1, 0).op = Op::Gemm; },
     "stage 0 body 'forward_0' instruction 0: matrix product without sizes, expected m, n and k"}};

/// Makes the first instruction of stage 0's forward a transfer between the two.
static void transferBetween(ProgramT &p, Buffer from, Buffer to) {
  InstructionT &transfer = at(p, 0, 1, 0);
  p.ranks[0]->hostBytes = 1024;
  p.ranks[0]->hostSlotBytes = 128;
  p.ranks[0]->hostSlotsOffset = 512;
  transfer.op = Op::Transfer;
  transfer.buffers = {from, to};
  transfer.written.clear();
}

static const Case hostCases[] = {
    {"HostSlots", [](ProgramT &p) { p.ranks[0]->hostSlotBytes = 64; },
     "stage 0: 2 slots of 64 bytes at 0 lie outside the host's arena of 0 bytes"},
    {"HostEnd", [](ProgramT &p) { transferBetween(p, Buffer(Space::Arena, 0, 32), Buffer(Space::Host, 1000, 32)); },
     "stage 0 body 'forward_0' instruction 0 buffer 1: 32 bytes at 1000 lie outside the host's arena of 1024 bytes"},
    {"HostSlotEnd",
     [](ProgramT &p) { transferBetween(p, Buffer(Space::Arena, 0, 32), Buffer(Space::HostSlot, 100, 32)); },
     "stage 0 body 'forward_0' instruction 0 buffer 1: 32 bytes at 100 lie outside the host's slot of 128 bytes"},
    {"HostBytes", [](ProgramT &p) { p.ranks[0]->hostBytes = uint64_t(1) << 50; },
     "stage 0: host's arena of 1125899906842624 bytes, expected at most 281474976710656"},
    {"TransferSizes",
     [](ProgramT &p) { transferBetween(p, Buffer(Space::Arena, 0, 32), Buffer(Space::HostSlot, 0, 64)); },
     "stage 0 body 'forward_0' instruction 0: Transfer of 32 bytes in, 64 bytes out"},
    {"TransferWithin", [](ProgramT &p) { transferBetween(p, Buffer(Space::Arena, 0, 32), Buffer(Space::Slot, 0, 32)); },
     "stage 0 body 'forward_0' instruction 0: Transfer within the device's memory, expected between device and host"},
    {"TransferInHost",
     [](ProgramT &p) { transferBetween(p, Buffer(Space::Host, 0, 32), Buffer(Space::HostSlot, 0, 32)); },
     "stage 0 body 'forward_0' instruction 0: Transfer within the host's memory, expected between device and host"},
    {"KernelInHost",
     [](ProgramT &p) {
       p.ranks[0]->hostBytes = 1024;
       at(p, 0, 1, 0).buffers[0] = Buffer(Space::Host, 0, 32);
     },
     "stage 0 body 'forward_0' instruction 0 buffer 0: Kernel in the host's memory, expected a transfer"}};

static const Case scheduleCases[] = {
    {"RowBody", [](ProgramT &p) { train(p, 0).rows[1] = changed(train(p, 0).rows[1], RowKind::Body, 0, 4, 0, 0); },
     "stage 0 entry 'train' row 1: body 4, the program has 4"},
    {"RowMessage", [](ProgramT &p) { train(p, 0).rows[8] = changed(train(p, 0).rows[8], RowKind::Send, 1, 2, 0, 0); },
     "stage 0 entry 'train' row 8: message 2, the program has 2"},
    {"RowStream", [](ProgramT &p) { train(p, 0).rows[8] = changed(train(p, 0).rows[8], RowKind::Send, 3, 0, 0, 0); },
     "stage 0 entry 'train' row 8: stream 3, the program has 3"},
    {"RowKind", [](ProgramT &p) { train(p, 0).rows[8] = changed(train(p, 0).rows[8], RowKind(3), 1, 0, 0, 0); },
     "stage 0 entry 'train' row 8: kind 3, expected 0 to 2"},
    {"RowMicrobatch",
     [](ProgramT &p) { train(p, 0).rows[1] = changed(train(p, 0).rows[1], RowKind::Body, 0, 1, 3, 0); },
     "stage 0 entry 'train' row 1: microbatch 3, the program has 3"},
    {"RowSlot", [](ProgramT &p) { train(p, 0).rows[1] = changed(train(p, 0).rows[1], RowKind::Body, 0, 1, 0, 2); },
     "stage 0 entry 'train' row 1: slot 2, the program has 2"},
    {"MessageOnCompute",
     [](ProgramT &p) { train(p, 0).rows[8] = changed(train(p, 0).rows[8], RowKind::Send, 0, 0, 0, 0); },
     "stage 0 entry 'train' row 8: a Send on stream 0, expected another than 0"},
    {"WrongEnd", [](ProgramT &p) { train(p, 0).rows[8] = changed(train(p, 0).rows[8], RowKind::Receive, 1, 0, 0, 0); },
     "stage 0 entry 'train' row 8: Receive of 'h', whose receiver is stage 1"},
    {"TwoStreams", [](ProgramT &p) { train(p, 0).rows[9] = changed(train(p, 0).rows[9], RowKind::Send, 2, 0, 1, 1); },
     "stage 0 entry 'train' row 9: messages of 'pp 0->1' on streams 1 and 2, expected one stream, so that their order "
     "is known"},
    {"WaitTooMany", [](ProgramT &p) { setWait(p, 0, 3, 2, 4); },
     "stage 0 entry 'train' row 3: waits for 4 rows of stream 2, which has 3"},
    {"WaitNoStream", [](ProgramT &p) { setWait(p, 0, 3, 5, 1); },
     "stage 0 entry 'train' row 3: waits for 1 rows of stream 5, which has 0"},
    {"WaitCycle", [](ProgramT &p) { setWait(p, 0, 11, 0, 4); },
     "stage 0 entry 'train' row 3: waits for rows that wait for it"},
    {"WaitSelf", [](ProgramT &p) { setWait(p, 0, 0, 0, 1); },
     "stage 0 entry 'train' row 0: waits for rows that wait for it"},
    {"NoTrain",
     [](ProgramT &p) {
       for (int stage : {0, 1})
         train(p, stage).name = "eval";
     },
     "no entry 'train', expected one"},
    {"EntryMissing", [](ProgramT &p) { train(p, 1).name = "eval"; }, "entry 'train' is missing on stage 1"},
    {"Streams", [](ProgramT &p) { train(p, 0).streams.clear(); }, "stage 0 entry 'train': 0 streams, expected 1 to 8"},
    {"MessageGroup", [](ProgramT &p) { p.ranks[0]->messages[0]->communicator = 1; },
     "stage 0 message 'h': communicator 'dp' is no edge of stage 0"},
    {"MessageEmpty", [](ProgramT &p) { p.ranks[0]->messages[0]->buffer = std::make_unique<Buffer>(Space::Slot, 0, 0); },
     "stage 0 message 'h': 0 bytes, expected an even number above 0"},
    {"MessageSizes",
     [](ProgramT &p) { p.ranks[1]->messages[0]->buffer = std::make_unique<Buffer>(Space::Slot, 0, 28); },
     "entry 'train': transfer 0 on 'pp 0->1' is 32 bytes (stage 0 'h' microbatch 0) on one end, 28 bytes (stage 1 'h' "
     "microbatch 0) on the other"},
    {"MessageCount",
     [](ProgramT &p) {
       train(p, 1).rows.erase(train(p, 1).rows.begin() + 10);
       setWait(p, 1, 5, 1, 2);
     },
     "entry 'train': stage 0 has 3 transfers on 'pp 0->1', stage 1 has 2"},
    {"CollectiveAcross", [](ProgramT &p) { at(p, 1, 3, 0).reduction = Reduction::Max; },
     "entry 'train': transfer 0 on 'pp,dp' is AllReduce Sum of 8 bytes of F32 (stage 0 'sum over ranks') on one end, "
     "AllReduce Max of 8 bytes of F32 (stage 1 'sum over ranks') on the other"}};

static const Case stateCases[] = {
    {"StateSplit", [](ProgramT &p) { p.ranks[0]->state[1]->split.pop_back(); },
     "stage 0 state 'w': buffer of 12 bytes, its padded shard needs 20"},
    {"StateDims", [](ProgramT &p) { p.ranks[0]->state[1]->shape = {5, 1}; },
     "stage 0 state 'w': 1 dimensions are split, the shape has 2"},
    {"StateBuffer", [](ProgramT &p) { p.ranks[0]->state[0]->shape = {7}; },
     "stage 0 state 'w': buffer of 24 bytes, its padded shard needs 28"},
    {"StateTwice", [](ProgramT &p) { p.ranks[0]->state[1]->kind = StateKind::Parameter; },
     "stage 0 state 'w': name is empty or used twice for the same kind"},
    {"StateOverlap",
     [](ProgramT &p) {
       p.ranks[0]->state[1]->name = "m";
       p.ranks[0]->state[1]->buffer = std::make_unique<Buffer>(Space::Arena, 264, 12);
     },
     "stage 0 state 'w' and stage 0 state 'm' overlap at byte 264"},
    {"StateSpace", [](ProgramT &p) { p.ranks[1]->state[0]->buffer = std::make_unique<Buffer>(Space::HostSlot, 0, 64); },
     "stage 1 state 'u': has no buffer in the arena or the host's"},
    {"StateHostEnd",
     [](ProgramT &p) {
       p.ranks[1]->hostBytes = 64;
       p.ranks[1]->state[0]->buffer = std::make_unique<Buffer>(Space::Host, 64, 64);
     },
     "stage 1 state 'u': 64 bytes at 64 lie outside the host's arena of 64 bytes"},
    {"StateHostOverlap",
     [](ProgramT &p) {
       p.ranks[0]->hostBytes = 128;
       p.ranks[0]->state[0]->buffer = std::make_unique<Buffer>(Space::Host, 0, 24);
       p.ranks[0]->state[1]->buffer = std::make_unique<Buffer>(Space::Host, 16, 24);
     },
     "stage 0 state 'w' and stage 0 state 'w' overlap at byte 16"},
    {"StateHolders", [](ProgramT &p) { p.ranks[1]->state[0]->holders = {0}; },
     "stage 1 state 'u': stage 1 is not among its holders"},
    {"StateInit", [](ProgramT &p) { p.ranks[1]->state[0]->init = InitKind(4); },
     "stage 1 state 'u': init 4, expected 0 to 3"},
    {"StateType", [](ProgramT &p) { p.ranks[1]->state[0]->type = DType::I32; },
     "stage 1 state 'u': type I32, expected a floating-point type"},
    {"StateDimension", [](ProgramT &p) { p.ranks[1]->state[0]->shape = {0}; },
     "stage 1 state 'u': dimension 0 has size 0, expected at least 1 and at most 2^48 elements in all"},
    {"InputShape", [](ProgramT &p) { p.ranks[0]->inputs[1]->rows = 3; },
     "stage 0 input 'Tokens': 3 rows x 4 columns, expected 2 x 4"},
    {"InputBuffer",
     [](ProgramT &p) { p.ranks[0]->inputs[1]->buffer = std::make_unique<Buffer>(Space::Microbatch, 0, 16); },
     "stage 0 input 'Tokens': 16 bytes in space Microbatch, expected 32 bytes for each microbatch"},
    {"InputType", [](ProgramT &p) { p.ranks[0]->inputs[1]->type = DType::F32; },
     "stage 0 input 'Tokens': type F32, expected I32 or I64"},
    {"OutputBuffer", [](ProgramT &p) { p.ranks[0]->outputs[0]->buffer = std::make_unique<Buffer>(Space::Arena, 2, 4); },
     "stage 0 output Loss: expected an aligned scalar in the arena"},
    {"MemoryClass", [](ProgramT &p) { p.ranks[0]->memory = {MemoryUse(MemoryClass(8), 1)}; },
     "stage 0 memory use 0: kind 8, expected 0 to 7"}};

static const Case streamCases[] = {
    {"StreamIndex", [](ProgramT &p) { at(p, 0, 3, 1).stream = 1; },
     "stage 0 body 'update' instruction 1: stream 1, the program has 1"},
    {"StreamNotAwaited", [](ProgramT &p) { addStream(p, 0); },
     "stage 0 body 'update': 1 of the 1 instructions on stream 'gradients' are not awaited, expected all before the "
     "body ends"},
    {"AwaitsMoreThanStarted", [](ProgramT &p) { addStream(p, 2); },
     "stage 0 body 'update' instruction 5: awaits 2 instructions on stream 'gradients', of which 1 have been started, "
     "expected 1 to as many"},
    {"AwaitsCompute",
     [](ProgramT &p) {
       addStream(p, 1);
       p.ranks[0]->bodies[3]->instructions.back()->stream = 0;
     },
     "stage 0 body 'update' instruction 5: awaits the stream that computes, expected another"},
    {"KernelOnStream",
     [](ProgramT &p) {
       addStream(p, 1);
       at(p, 0, 1, 0).stream = 1;
     },
     "stage 0 body 'forward_0' instruction 0: a Kernel on stream 'gradients', expected a collective or a transfer"},
    {"AwaitBuffers",
     [](ProgramT &p) {
       addStream(p, 1);
       p.ranks[0]->bodies[3]->instructions.back()->buffers = {Buffer(Space::Arena, 0, 8)};
     },
     "stage 0 body 'update' instruction 5: 1 buffers, expected 0"},
    {"CommunicatorOnTwoStreams", [](ProgramT &p) { addStream(p, 1); },
     "stage 0 body 'update' instruction 3: uses communicator 'dp' on stream 'compute', others use it on stream "
     "'gradients', expected one stream"},
};

INSTANTIATE_TEST_SUITE_P(Streams, Semantic, testing::ValuesIn(streamCases), caseName);
INSTANTIATE_TEST_SUITE_P(Mesh, Semantic, testing::ValuesIn(meshCases), caseName);
INSTANTIATE_TEST_SUITE_P(Bodies, Semantic, testing::ValuesIn(bodyCases), caseName);
INSTANTIATE_TEST_SUITE_P(Host, Semantic, testing::ValuesIn(hostCases), caseName);
INSTANTIATE_TEST_SUITE_P(Schedule, Semantic, testing::ValuesIn(scheduleCases), caseName);
INSTANTIATE_TEST_SUITE_P(State, Semantic, testing::ValuesIn(stateCases), caseName);
