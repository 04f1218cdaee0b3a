// See ProgramTables.h.
#include "tools/hocket/ProgramTables.h"
#include <algorithm>
#include <sstream>
using namespace hocket;
using namespace hocket::tools;

/// "activation from 0 chunk 1 to 1", as the step dialect names messages.
static schedule::Message messageOf(const std::string &name) {
  std::istringstream words(name);
  schedule::Message message;
  bool sends = true;
  for (std::string word; words >> word;) {
    if (word == "gradient")
      message.values = schedule::Values::Gradient;
    sends = word == "from" || (sends && word != "to");
    if (word == "from" || word == "to")
      words >> (sends ? message.from : message.to);
    else if (word == "chunk")
      words >> (sends ? message.fromChunk : message.toChunk);
  }
  return message;
}

const program::EntryT &hocket::tools::trainingOf(const program::RankProgramT &rank) {
  for (auto &entry : rank.entries)
    if (entry->name == "train")
      return *entry;
  return *rank.entries.front();
}

/// Schedules do not know the bodies of the last microbatch.
static schedule::BodyKind scheduledKind(program::BodyKind kind) {
  return kind == program::BodyKind::FinalBackward     ? schedule::BodyKind::Backward
         : kind == program::BodyKind::FinalWeightGrad ? schedule::BodyKind::WeightGrad
                                                      : schedule::BodyKind(kind);
}

ProgramTables hocket::tools::tablesOf(const program::ProgramT &program) {
  ProgramTables out;
  schedule::Tables &tables = out.tables;
  for (const auto &rank : program.ranks) {
    const program::EntryT &train = trainingOf(*rank);
    schedule::Table table{train.streams, rank->slotCount, {}};
    if (table.streams.empty())
      table.streams = {"compute"};
    for (const program::Row &from : train.rows) {
      schedule::Row row{schedule::RowKind(from.kind()), from.stream(), 0, from.microbatch(), from.slot()};
      for (size_t s = 0; s < row.wait.size(); ++s)
        row.wait[s] = from.wait()->Get(s);
      if (row.kind == schedule::RowKind::Body) {
        const program::BodyT &body = *rank->bodies[from.index()];
        tables.chunks = std::max<uint32_t>(tables.chunks, body.chunk + 1);
        schedule::BodyKind kind = scheduledKind(body.kind);
        row.index = schedule::bodyIndex(kind, body.chunk);
        out.problem.splitWeightGrad |= kind == schedule::BodyKind::WeightGrad;
      } else {
        schedule::Message message = messageOf(rank->messages[from.index()]->name);
        auto known = std::find(tables.messages.begin(), tables.messages.end(), message);
        row.index = uint16_t(known - tables.messages.begin());
        if (known == tables.messages.end())
          tables.messages.push_back(message);
      }
      table.rows.push_back(row);
    }
    tables.stages.push_back(std::move(table));
  }
  tables.microbatches = out.problem.microbatches = uint32_t(std::max<uint64_t>(program.microbatches, 1));
  out.problem.stages = uint32_t(tables.stages.size());
  out.problem.chunks = tables.chunks;
  return out;
}

schedule::Times hocket::tools::unitTimes(const schedule::Problem &problem) {
  return schedule::Times{.backward = problem.splitWeightGrad ? 1.0 : 2.0};
}

std::optional<schedule::Simulation> hocket::tools::simulateUnits(ProgramTables step) {
  step.problem.times = {unitTimes(step.problem)};
  schedule::Faults faults;
  return schedule::simulate(step.problem, step.tables, {}, faults);
}
