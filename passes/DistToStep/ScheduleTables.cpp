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

std::optional<schedule::Tables> hocket::step::solveSchedule(StringRef name, unsigned stages, unsigned microbatches,
                                                            bool evaluate, Location loc) {
  schedule::Problem problem;
  problem.stages = stages;
  problem.microbatches = microbatches;
  problem.evaluate = evaluate;
  schedule::Faults faults;
  std::optional<schedule::Tables> tables = schedule::solve(name.str(), problem, faults);
  if (tables)
    faults = schedule::judge(problem, *tables);
  report(faults, loc);
  return faults.empty() ? tables : std::nullopt;
}

TableAttr hocket::step::makeTable(MLIRContext *context, const schedule::Tables &tables, unsigned stage,
                                  ArrayRef<BodyKind> bodies, ArrayRef<unsigned> messages, bool evaluate) {
  const schedule::Table &table = tables.stages[stage];
  SmallVector<StringAttr> streams;
  for (const std::string &name : table.streams)
    streams.push_back(StringAttr::get(context, name));
  auto place = [](auto list, auto what) { return static_cast<uint16_t>(llvm::find(list, what) - list.begin()); };

  SmallVector<Row> rows;
  Row last;
  for (const schedule::Row &from : table.rows) {
    Row row;
    row.kind = static_cast<RowKind>(from.kind);
    row.stream = from.stream;
    row.microbatch = from.microbatch;
    row.slot = from.slot;
    llvm::copy(from.wait, row.wait.begin());
    if (from.kind == schedule::RowKind::Body) {
      auto kind = static_cast<BodyKind>(schedule::bodyKind(from));
      row.index = place(bodies, kind == BodyKind::Evaluate ? BodyKind::Forward : kind);
    } else {
      row.index = place(messages, unsigned(from.index));
    }
    rows.push_back(row);
    ++last.wait[row.stream];
  }
  if (evaluate) {
    last.index = place(bodies, BodyKind::Evaluate);
    last.wait[0] = 0; // the order of its own stream
    rows.push_back(last);
  }
  return TableAttr::get(context, streams, rows);
}
