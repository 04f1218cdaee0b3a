// From passes/Schedule to #step.table.
#include "passes/DistToStep/ScheduleTables.h"
#include "passes/Schedule/Judge.h"
#include "passes/Schedule/Solvers.h"
#include "passes/Schedule/UserSchedule.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
using namespace mlir;
using namespace hocket;
using namespace hocket::step;

static void report(const schedule::Faults &faults, Location loc, StringRef prefix = "") {
  for (const schedule::Fault &fault : faults) {
    auto error = emitError(loc) << prefix << fault.text;
    for (const std::string &note : fault.notes)
      error.attachNote() << note;
  }
}

/// A path in the user's file: relative to where that lies.
static std::string resolve(StringRef path, Location loc) {
  SmallString<128> whole(path);
  if (auto file = loc->findInstanceOf<FileLineColLoc>(); file && llvm::sys::path::is_relative(path)) {
    whole = llvm::sys::path::parent_path(file.getFilename().getValue());
    llvm::sys::path::append(whole, path);
  }
  return whole.str().str();
}

/// Reads the user's table and holds its sizes against the plan's.
static bool readTable(dist::StagesOp tactic, PlanSchedule &schedule, Location loc) {
  StringRef path = *tactic.getTable();
  llvm::sys::fs::file_status status;
  if (!llvm::sys::fs::status(resolve(path, tactic.getLoc()), status) && !llvm::sys::fs::is_regular_file(status) &&
      !llvm::sys::fs::is_directory(status)) { // a pipe or a device may have no end, and the table is read several times
    emitError(loc) << "cannot read the schedule's table \"" << path << "\": it is no regular file";
    return false;
  }
  auto text = llvm::MemoryBuffer::getFile(resolve(path, tactic.getLoc()), /*IsText=*/true);
  if (!text) {
    emitError(loc) << "cannot read the schedule's table \"" << path << "\": " << text.getError().message();
    return false;
  }
  schedule::Faults faults;
  auto read = schedule::readSchedule((*text)->getBuffer().str(), /*wholeStep=*/true, faults);
  auto same = [&](const char *what, uint64_t found, uint64_t wanted, const char *whose) {
    if (found != wanted)
      faults.push_back({llvm::formatv("it is for {0} {1}, {2} {3}", found, what, whose, wanted).str(), {}});
  };
  if (read) {
    same("stages", read->problem.stages, schedule.problem.stages, "the plan has");
    same("microbatches", read->problem.microbatches, schedule.problem.microbatches, "the plan's batch makes");
    if (auto chunks = tactic.getChunks())
      same("chunks a stage", read->problem.chunks, *chunks, "the plan says");
    schedule::checkRunnable(read->tables, faults);
  }
  report(faults, loc, ("table \"" + path + "\": ").str());
  if (!faults.empty() || !read)
    return false;
  schedule.problem = std::move(read->problem);
  schedule.given = std::move(read->tables);
  schedule.numbering = std::move(read->numbering);
  return true;
}

std::optional<PlanSchedule> hocket::step::describeSchedule(dist::StagesOp tactic, unsigned stages,
                                                           unsigned microbatches, Location loc) {
  PlanSchedule schedule;
  schedule.name = tactic ? tactic.getSchedule().str() : "1f1b";
  schedule.problem.stages = stages;
  schedule.problem.microbatches = microbatches;
  if (tactic && tactic.getTable()) {
    if (!readTable(tactic, schedule, loc))
      return std::nullopt;
  } else {
    std::optional<uint64_t> chunks = tactic ? tactic.getChunks() : std::nullopt;
    schedule.problem.chunks = chunks.value_or(1);
    schedule::Faults faults;
    schedule::adopt(schedule.name, schedule.problem, faults, chunks.has_value());
    report(faults, loc);
    if (!faults.empty())
      return std::nullopt;
  }
  schedule.problem.evaluateUpdate = true;
  return schedule;
}

/// What a deadlock says where other semantics are asked for too, else "".
static std::string besideRendezvous(const PlanSchedule &schedule, const schedule::Problem &problem,
                                    const schedule::Tables &tables) {
  if (schedule.asked.rendezvous() && !schedule.asked.nccl)
    return "";
  bool holds = schedule::judge(problem, tables, schedule.asked).empty();
  return "by rendezvous, which every plan must hold; with " + schedule::name(schedule.asked) +
         " sends, which are asked for, " + (holds ? "nothing is at fault" : "it is at fault too");
}

SolvedSchedule hocket::step::solveSchedule(const PlanSchedule &schedule, bool evaluate, const StagePlacement &placement,
                                           Location loc, std::optional<std::pair<Location, std::string>> batch) {
  schedule::Problem problem = schedule.problem;
  problem.evaluate = evaluate;
  schedule::Faults faults;
  // Evaluation is the same under every schedule.
  std::optional<schedule::Tables> tables =
      schedule.given && !evaluate ? schedule.given
                                  : schedule::solve(schedule.given ? "1f1b" : schedule.name, problem, faults);
  bool solved = tables.has_value();
  if (tables)
    faults = schedule::judge(problem, *tables);
  for (const schedule::Fault &fault : faults) {
    auto error = emitError(loc) << fault.text;
    for (auto [i, note] : llvm::enumerate(fault.notes)) {
      std::optional<Location> layer;
      if (i < fault.pieces.size())
        layer = placement.locOf(placement.virtualStage(fault.pieces[i].stage, fault.pieces[i].chunk));
      error.attachNote(layer) << note;
    }
    if (&fault == &faults.front() && !schedule.numbering.empty() && !evaluate)
      error.attachNote() << schedule.numbering;
    if (std::string beside = fault.pieces.empty() ? "" : besideRendezvous(schedule, problem, *tables); !beside.empty())
      error.attachNote() << beside;
    if (!solved && batch)
      error.attachNote(batch->first) << batch->second;
  }
  if (!llvm::all_of(faults, [](const schedule::Fault &fault) { return fault.ofOrder; }))
    return {};
  return {std::move(tables), solved && faults.empty()};
}

/// The body for the last microbatch instead of an ordinary one; that itself where the program has none.
static unsigned finalIndex(ProgramOp program, unsigned index) {
  auto kind = static_cast<BodyKind>(index % kBodyKinds);
  unsigned chunk = index / kBodyKinds;
  BodyKind last = kind == BodyKind::Backward     ? BodyKind::FinalBackward
                  : kind == BodyKind::WeightGrad ? BodyKind::FinalWeightGrad
                                                 : kind;
  return program.findBody(last, chunk) ? bodyIndexOf(static_cast<unsigned>(last), chunk) : index;
}

TableAttr hocket::step::makeTable(MLIRContext *context, const schedule::Tables &tables, ProgramOp program,
                                  bool evaluate) {
  const schedule::Table &table = tables.stages[program.getStage()];
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
    } else if (row.microbatch + 1 == tables.microbatches) {
      row.index = finalIndex(program, row.index);
    }
    rows.push_back(row);
  }
  return TableAttr::get(context, streams, messages, rows);
}
