// Messages of step-verify-program: both ends of each edge, and the schedule tables before the judge.
#include "passes/Schedule/Judge.h"
#include "passes/Step/BodyMemory.h"
#include "passes/Step/SlotChains.h"
#include "passes/Step/VerifyProgram.h"
#include "llvm/ADT/SetVector.h"
using namespace mlir;
using namespace hocket;
using namespace hocket::step;

/// Buffers lie in slots, one behind the other.
static void verifyPlaces(VerifyContext &context, MessageOp message) {
  BufferOp before;
  for (Value value : message.getBuffers()) {
    auto buffer = value.getDefiningOp<BufferOp>();
    if (!buffer || buffer.getSpace() != Space::Slot || !buffer.getOffset()) {
      context.fault(message) << "'" << message.getText() << "' carries '" << (buffer ? buffer.getName() : "?")
                             << "', which does not lie in a slot";
      return;
    }
    int64_t offset = *buffer.getOffset();
    if (before && offset != aligned(static_cast<int64_t>(*before.getOffset()) + before.getBytes())) {
      context.fault(message) << "'" << message.getText() << "' carries '" << buffer.getName() << "' at byte " << offset
                             << " of the slot, expected "
                             << aligned(static_cast<int64_t>(*before.getOffset()) + before.getBytes())
                             << ", right behind '" << before.getName() << "'";
      return;
    }
    before = buffer;
  }
}

static std::string sayBuffers(MessageOp message) {
  std::string text;
  llvm::raw_string_ostream os(text);
  llvm::interleaveComma(message.getBuffers(), os, [&](Value value) {
    auto buffer = value.getDefiningOp<BufferOp>();
    os << "'" << buffer.getName() << "' (" << buffer.getBytes() << " bytes)";
  });
  return text;
}

static void verifyOtherEnd(VerifyContext &context, MessageOp message) {
  auto program = cast<ProgramOp>(message->getParentOp());
  uint64_t stage = program.getStage(), peer = message.getFrom() == stage ? message.getTo() : message.getFrom();
  if (message.getFrom() != stage && message.getTo() != stage) {
    context.fault(message) << "'" << message.getText() << "' neither starts nor ends here";
    return;
  }
  if (peer >= context.programs.size()) {
    context.fault(message) << "'" << message.getText() << "', the job has stages 0 to " << context.programs.size() - 1;
    return;
  }
  MessageOp other = context.programs[peer].findMessage(message.getMessage());
  if (!other) {
    auto error = context.fault(message) << (message.getFrom() == stage ? "sends '" : "receives '") << message.getText()
                                        << "' with " << sayBuffers(message) << ", and stage " << peer << " never "
                                        << (message.getFrom() == stage ? "receives" : "sends") << " it";
    error.attachNote(context.programs[peer].getLoc()) << "stage " << peer << " is here";
    return;
  }
  if (message.getFrom() != stage)
    return; // compared once, from the sender
  auto types = [](MessageOp message) { return llvm::to_vector(message.getBuffers().getTypes()); };
  if (types(message) != types(other)) {
    auto error = context.fault(message) << "sends '" << message.getText() << "' with " << sayBuffers(message)
                                        << ", stage " << peer << " receives " << sayBuffers(other);
    error.attachNote(other.getLoc()) << "received here";
  }
}

void hocket::step::verifyMessages(VerifyContext &context) {
  for (ProgramOp program : context.programs)
    for (auto message : program.ops<MessageOp>()) {
      for (auto other : program.ops<MessageOp>())
        if (other != message && other->isBeforeInBlock(message) && other.getMessage() == message.getMessage())
          (context.fault(message) << "'" << message.getText() << "' twice").attachNote(other.getLoc())
              << "it stands here";
      verifyPlaces(context, message);
      verifyOtherEnd(context, message);
    }
}

// ---- tables --------------------------------------------------------------------------------------------------------
namespace {
/// The tables of one entry, gathered from all stages.
struct EntryTables {
  VerifyContext &context;
  StringRef name;
  SmallVector<ScheduleOp> schedules; // by stage
  schedule::Problem problem;
  schedule::Tables tables;

  bool gather() {
    bool complete = true;
    for (ProgramOp program : context.programs) {
      ScheduleOp schedule = program.findSchedule(name);
      if (!schedule)
        context.fault(program) << "has no schedule '" << name << "', which other stages have";
      complete &= schedule && namesKnown(program, schedule);
      schedules.push_back(schedule);
    }
    return complete;
  }

  /// Every body and message that the rows name is in the program, every message of the program is used in training.
  bool namesKnown(ProgramOp program, ScheduleOp schedule) {
    bool known = true;
    TableAttr table = schedule.getTable();
    for (const Message &message : table.getMessages())
      if (!program.findMessage(message)) {
        context.fault(schedule) << "schedule '" << name << "' names '" << messageText(message)
                                << "', which the program does not have";
        known = false;
      }
    llvm::SmallSetVector<unsigned, 8> bodies;
    for (const Row &row : table.getRows())
      if (row.kind == RowKind::Body)
        bodies.insert(row.index);
    for (unsigned index : bodies)
      if (auto kind = static_cast<BodyKind>(index % kBodyKinds); !program.findBody(kind, index / kBodyKinds)) {
        context.fault(schedule) << "schedule '" << name << "' runs " << stringifyBodyKind(kind) << " of chunk "
                                << index / kBodyKinds << ", which the program does not have";
        known = false;
      }
    return known;
  }

  void describeProblem() {
    problem.stages = context.programs.size();
    problem.microbatches = context.job.getMicrobatches();
    problem.evaluate = name != "train";
    for (ProgramOp program : context.programs)
      for (auto body : program.ops<BodyOp>()) {
        problem.chunks = std::max<uint32_t>(problem.chunks, body.getChunk() + 1);
        problem.splitWeightGrad |= body.getKind() == BodyKind::WeightGrad;
        problem.evaluateUpdate |= body.getKind() == BodyKind::Evaluate;
      }
    problem.placement = placementOf(context.programs, problem.chunks);
  }

  /// The last microbatch, and no other, runs the final bodies that the stage has.
  void verifyFinal(ScheduleOp schedule, const Row &row) {
    auto program = cast<ProgramOp>(schedule->getParentOp());
    auto kind = static_cast<BodyKind>(row.index % kBodyKinds);
    unsigned chunk = row.index / kBodyKinds;
    bool last = !problem.evaluate && row.microbatch + 1 == problem.microbatches;
    if (scheduledKind(kind) != kind && !last)
      context.fault(schedule) << "schedule '" << name << "' runs " << stringifyBodyKind(kind) << " of chunk " << chunk
                              << " for microbatch " << row.microbatch << "; it is for the last one, "
                              << problem.microbatches - 1 << ", in training";
    for (BodyKind final : {BodyKind::FinalBackward, BodyKind::FinalWeightGrad})
      if (last && kind == scheduledKind(final) && program.findBody(final, chunk))
        context.fault(schedule) << "schedule '" << name << "' runs " << stringifyBodyKind(kind) << " of chunk " << chunk
                                << " for the last microbatch, for which there is " << stringifyBodyKind(final);
  }

  /// As schedule::solve gave them: messages numbered for all stages, the forward body of an evaluation as Evaluate,
  /// final bodies as those that they are copies of.
  void makeTables() {
    tables.chunks = problem.chunks;
    tables.microbatches = problem.microbatches;
    tables.messages = schedule::messagesOf(problem);
    for (ScheduleOp schedule : schedules) {
      TableAttr from = schedule.getTable();
      schedule::Table table;
      for (StringAttr stream : from.getStreams())
        table.streams.push_back(stream.str());
      table.slots = cast<ProgramOp>(schedule->getParentOp()).getSlotCount().value_or(0);
      SmallVector<unsigned> place;
      for (const Message &message : from.getMessages()) {
        auto it = llvm::find(tables.messages, message);
        place.push_back(it - tables.messages.begin());
        if (it == tables.messages.end())
          tables.messages.push_back(message);
      }
      for (Row row : from.getRows()) {
        if (row.kind == RowKind::Body) {
          verifyFinal(schedule, row);
          auto known = scheduledKind(static_cast<BodyKind>(row.index % kBodyKinds));
          row.index = bodyIndexOf(static_cast<unsigned>(known), row.index / kBodyKinds);
        }
        auto kind = static_cast<BodyKind>(row.index % kBodyKinds);
        if (row.kind != RowKind::Body)
          row.index = place[row.index];
        else if (problem.evaluate && (kind == BodyKind::Forward || kind == BodyKind::Evaluate))
          row.index =
              bodyIndexOf(static_cast<unsigned>(kind == BodyKind::Forward ? BodyKind::Evaluate : BodyKind::Update),
                          row.index / kBodyKinds);
        table.rows.push_back(row);
      }
      tables.stages.push_back(std::move(table));
    }
  }

  /// The schedule of the stage that a sentence of the judge begins with, "stage 1, time 5: …"; else the first.
  Operation *placeOf(StringRef text) {
    unsigned stage = 0;
    if (!text.consume_front("stage ") || text.consumeInteger(10, stage) || stage >= schedules.size())
      return schedules.front();
    return schedules[stage];
  }

  void judge() {
    describeProblem();
    makeTables();
    for (const schedule::Fault &fault : schedule::judge(problem, tables, context.semantics)) {
      context.sound = false;
      auto error = emitError(placeOf(fault.text)->getLoc()) << "schedule '" << name << "': " << fault.text;
      for (const std::string &note : fault.notes)
        error.attachNote(placeOf(note)->getLoc()) << note;
    }
  }
};
} // namespace

void hocket::step::verifySchedules(VerifyContext &context) {
  llvm::SetVector<StringRef> names;
  for (ProgramOp program : context.programs)
    for (auto schedule : program.ops<ScheduleOp>())
      names.insert(schedule.getName());
  if (!names.contains("train"))
    context.fault(context.job) << "no stage has a schedule 'train'";
  for (StringRef name : names) {
    EntryTables entry{context, name, {}, {}, {}};
    if (entry.gather())
      entry.judge();
  }
}
