// From passes/Schedule to #step.table.
#include "passes/DistToStep/ScheduleTables.h"
#include "passes/Schedule/Judge.h"
#include "passes/Schedule/Solvers.h"
using namespace mlir;
using namespace hocket;
using namespace hocket::step;

static void report(const schedule::Faults &faults, Location loc) {
  for (const schedule::Fault &fault : faults) {
    auto error = emitError(loc) << fault.text;
    for (const std::string &note : fault.notes)
      error.attachNote() << note;
  }
}

std::optional<schedule::Problem> hocket::step::describeProblem(StringRef name, unsigned stages, unsigned chunks,
                                                               unsigned microbatches, Location loc) {
  schedule::Problem problem;
  problem.stages = stages;
  problem.chunks = chunks;
  problem.microbatches = microbatches;
  problem.evaluateUpdate = true;
  schedule::Faults faults;
  schedule::adopt(name.str(), problem, faults);
  report(faults, loc);
  return faults.empty() ? std::optional(problem) : std::nullopt;
}

std::optional<schedule::Tables> hocket::step::solveSchedule(StringRef name, const schedule::Problem &problem,
                                                            Location loc) {
  schedule::Faults faults;
  std::optional<schedule::Tables> tables = schedule::solve(name.str(), problem, faults);
  if (tables)
    faults = schedule::judge(problem, *tables);
  report(faults, loc);
  return faults.empty() ? tables : std::nullopt;
}

TableAttr hocket::step::makeTable(MLIRContext *context, const schedule::Tables &tables, unsigned stage, bool evaluate) {
  const schedule::Table &table = tables.stages[stage];
  SmallVector<StringAttr> streams;
  for (const std::string &name : table.streams)
    streams.push_back(StringAttr::get(context, name));
  SmallVector<Message> messages;
  llvm::DenseMap<unsigned, unsigned> place; // of a message of all stages among this stage's
  SmallVector<Row> rows;
  for (Row row : table.rows) {
    if (row.kind != RowKind::Body) {
      auto [it, fresh] = place.try_emplace(row.index, messages.size());
      if (fresh)
        messages.push_back(tables.messages[row.index]);
      row.index = it->second;
    } else if (evaluate) {
      auto kind = static_cast<BodyKind>(schedule::bodyKind(row));
      if (kind == BodyKind::Evaluate)
        row.index = bodyIndexOf(static_cast<unsigned>(BodyKind::Forward), schedule::bodyChunk(row));
      else if (kind == BodyKind::Update)
        row.index = bodyIndexOf(static_cast<unsigned>(BodyKind::Evaluate), 0);
    }
    rows.push_back(row);
  }
  return TableAttr::get(context, streams, messages, rows);
}
