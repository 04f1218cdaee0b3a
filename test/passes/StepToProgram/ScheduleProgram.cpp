// See ScheduleProgram.h.
#include "ScheduleProgram.h"
#include "runtime/Program/IssueOrder.h"
#include <gtest/gtest.h>
using namespace hocket;

std::string hocket::text(const schedule::Faults &faults) {
  std::string all;
  for (const schedule::Fault &fault : faults)
    all += fault.text + "\n";
  return all;
}

schedule::Tables hocket::solved(const std::string &name, uint32_t stages, uint32_t chunks, uint32_t microbatches,
                                bool evaluate, schedule::Problem &problem) {
  schedule::Faults faults;
  problem.stages = stages;
  problem.chunks = chunks;
  problem.microbatches = microbatches;
  problem.evaluate = evaluate;
  problem.evaluateUpdate = true;
  EXPECT_TRUE(schedule::adopt(name, problem, faults)) << text(faults);
  auto tables = schedule::solve(name, problem, faults);
  EXPECT_TRUE(tables) << text(faults);
  return tables.value_or(schedule::Tables());
}

ScheduleProgram::ScheduleProgram(const schedule::Tables &tables, Inside inside) : tables(tables), inside(inside) {
  auto stages = uint32_t(tables.stages.size());
  made.name = made.plan = made.recipe = "p";
  made.target = "cuda";
  made.stageAxis = 0;
  made.threads = 1;
  made.microbatches = tables.microbatches;
  made.globalBatch = uint64_t(tables.microbatches) * inside.dp;
  made.microbatchRows = made.sequence = made.vocabulary = 1;
  made.strings = {""};
  for (auto [name, size] : {std::pair("pp", stages), std::pair("dp", inside.dp), std::pair("tp", inside.tp)}) {
    made.axes.push_back(std::make_unique<program::AxisT>());
    made.axes.back()->name = name;
    made.axes.back()->size = size;
  }
  made.dataAxes = {axis(1)};
  add("pp", program::CommunicatorKind::Group, 0, 0, 0);
  for (const schedule::Message &message : tables.messages)
    if (!edges.count({message.from, message.to}))
      edges[{message.from, message.to}] = add("edge", program::CommunicatorKind::Edge, 0, message.from, message.to);
  overTp = add("tp", program::CommunicatorKind::Group, 2, 0, 0);
  overDp = overTp + 1;
  for (uint32_t stream = 0; stream < inside.streams; ++stream)
    add("dp on stream " + std::to_string(stream), program::CommunicatorKind::Group, 1, 0, 0);
  for (uint32_t stage = 0; stage < stages; ++stage)
    addStage(stage);
}

const program::Program &ScheduleProgram::packed() {
  builder.Clear();
  builder.Finish(program::Program::Pack(builder, &made));
  return *flatbuffers::GetRoot<program::Program>(builder.GetBufferPointer());
}

bool ScheduleProgram::order(schedule::Tables &own) {
  auto orders = program::issueOrders(packed(), program::trainEntry);
  for (size_t stage = 0; orders && stage < orders->size(); ++stage) {
    std::vector<schedule::Row> rows;
    std::vector<program::Row> ordered;
    for (uint32_t row : (*orders)[stage]) {
      rows.push_back(own.stages[stage].rows[row]);
      ordered.push_back(made.ranks[stage]->entries[0]->rows[row]);
    }
    own.stages[stage].rows = std::move(rows);
    made.ranks[stage]->entries[0]->rows = std::move(ordered);
  }
  return orders.has_value();
}

uint32_t ScheduleProgram::add(const std::string &name, program::CommunicatorKind kind, uint32_t along, uint32_t from,
                              uint32_t to) {
  made.communicators.push_back(std::make_unique<program::CommunicatorT>());
  program::CommunicatorT &communicator = *made.communicators.back();
  communicator.name = name;
  communicator.kind = kind;
  communicator.axes = {axis(along)};
  communicator.from = from;
  communicator.to = to;
  return uint32_t(made.communicators.size() - 1);
}

void ScheduleProgram::addStage(uint32_t stage) {
  const schedule::Table &table = tables.stages[stage];
  made.ranks.push_back(std::make_unique<program::RankProgramT>());
  program::RankProgramT &rank = *made.ranks.back();
  rank.stage = stage;
  rank.slotCount = table.slots;
  rank.slotBytes = 8;
  rank.slotsOffset = 8;
  rank.arenaBytes = 8 + 8 * uint64_t(table.slots);
  for (uint32_t stream = 0; stream < inside.streams; ++stream)
    rank.bodyStreams.push_back("stream " + std::to_string(stream));
  rank.entries.push_back(std::make_unique<program::EntryT>());
  program::EntryT &entry = *rank.entries.back();
  entry.name = program::trainEntry;
  entry.streams = table.streams;
  std::map<uint32_t, uint32_t> bodies, messages;
  for (const schedule::Row &row : table.rows) {
    bool body = row.kind == schedule::RowKind::Body;
    auto &known = body ? bodies : messages;
    auto [at, fresh] = known.try_emplace(row.index, known.size());
    if (fresh)
      body ? addBody(rank, row) : addMessage(rank, tables.messages[row.index]);
    entry.rows.push_back(program::Row(static_cast<program::RowKind>(row.kind), row.stream, uint16_t(at->second),
                                      row.microbatch, row.slot,
                                      flatbuffers::span<const uint32_t, 8>(row.wait.data(), row.wait.size())));
  }
}

void ScheduleProgram::addBody(program::RankProgramT &rank, const schedule::Row &row) {
  rank.bodies.push_back(std::make_unique<program::BodyT>());
  program::BodyT &body = *rank.bodies.back();
  body.name = schedule::name(schedule::bodyKind(row));
  body.kind = static_cast<program::BodyKind>(schedule::bodyKind(row));
  auto add = [&](program::Op op, uint32_t communicator, uint8_t stream, uint32_t awaited) {
    auto instruction = std::make_unique<program::InstructionT>();
    instruction->op = op;
    instruction->communicator = communicator;
    instruction->stream = stream;
    instruction->awaited = awaited;
    if (op == program::Op::AllReduce)
      instruction->buffers = {program::Buffer(program::Space::Arena, 0, 4),
                              program::Buffer(program::Space::Arena, 0, 4)};
    body.instructions.push_back(std::move(instruction));
  };
  for (int twice = 0; twice < 2; ++twice) {
    for (uint32_t stream = 0; stream < inside.streams; ++stream)
      add(program::Op::AllReduce, overDp + stream, uint8_t(stream + 1), 0);
    if (inside.computes)
      add(program::Op::AllReduce, overTp, 0, 0);
  }
  for (uint32_t stream = 0; stream < inside.streams; ++stream)
    add(program::Op::Await, 0, uint8_t(stream + 1), 2);
  if (schedule::bodyKind(row) == schedule::BodyKind::Update)
    add(program::Op::AllReduce, 0, 0, 0);
}

void ScheduleProgram::addMessage(program::RankProgramT &rank, const schedule::Message &message) {
  rank.messages.push_back(std::make_unique<program::MessageT>());
  rank.messages.back()->name = schedule::name(message);
  rank.messages.back()->communicator = edges.at({message.from, message.to});
  rank.messages.back()->buffer = std::make_unique<program::Buffer>(program::Space::Slot, 0, 8);
}
