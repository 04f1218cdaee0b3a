// The judge against an oracle that shares nothing with it: tables damaged at random are run many times, each time
// starting and finishing rows in another order, with the contents of every slot followed. What the judge accepts must
// never go wrong; what it rejects must be seen to go wrong.
#include "ScheduleTesting.h"
#include "passes/Schedule/TableText.h"

#include <random>
#include <set>

namespace hocket::schedule {
namespace {

constexpr uint32_t nobody = ~0u;

/// One run of one-chunk tables under rendezvous; every step starts or finishes a row that may, chosen at random.
class RandomRun {
public:
  RandomRun(const Tables &tables, std::mt19937 &random) : tables(tables), random(random), stages(tables.stages.size()) {
    for (size_t s = 0; s < stages.size(); ++s) {
      stages[s].slots.resize(tables.stages[s].slots);
      for (uint32_t &haste : stages[s].haste)
        haste = random();
      for (const Row &row : tables.stages[s].rows)
        stages[s].streams[row.stream].push_back(row);
    }
  }

  bool goesRight() {
    while (std::optional<Move> move = pick())
      if (!apply(*move))
        return false;
    for (size_t s = 0; s < stages.size(); ++s) {
      for (unsigned t = 0; t < maxStreams; ++t)
        if (stages[s].done[t] != stages[s].streams[t].size())
          return false;
      bool first = s == 0, last = s + 1 == stages.size();
      size_t perMicrobatch = 2 + (first ? 0 : 2) + (last ? 0 : 2);
      if (stages[s].happened.size() != perMicrobatch * tables.microbatches || stages[s].once != 2)
        return false;
    }
    return true;
  }

private:
  struct Slot {
    uint32_t owner = nobody;
    bool activation = false, kept = false, gradient = false, result = false;
  };
  struct Stage {
    std::array<std::vector<Row>, maxStreams> streams;
    std::array<size_t, maxStreams> done{};
    std::array<bool, maxStreams> running{};
    std::array<uint32_t, maxStreams> haste{};
    std::vector<Slot> slots;
    std::set<std::tuple<int, int, uint32_t>> happened; // kind, index, microbatch
    uint32_t summed = 0, once = 0;
    bool begun = false;
  };
  struct Move {
    size_t stage;
    unsigned stream;
  };

  const Row *head(size_t s, unsigned t) const {
    const Stage &stage = stages[s];
    if (stage.done[t] == stage.streams[t].size())
      return nullptr;
    const Row &row = stage.streams[t][stage.done[t]];
    for (unsigned u = 0; u < maxStreams; ++u)
      if (stage.done[u] < row.wait[u])
        return nullptr;
    return &row;
  }

  /// The other end of the transfer at the head of a stream: what stands at the head of the edge's other stream.
  std::optional<Move> partner(size_t s, unsigned t) const {
    const Row &row = *head(s, t);
    const Message &message = tables.messages[row.index];
    size_t other = row.kind == RowKind::Send ? message.to : message.from;
    for (unsigned u = 1; u < maxStreams; ++u)
      if (const Row *there = head(other, u); there && there->kind != RowKind::Body && there->kind != row.kind) {
        const Message &theirs = tables.messages[there->index];
        if (theirs.from == message.from && theirs.to == message.to)
          return Move{other, u};
      }
    return std::nullopt;
  }

  std::optional<Move> pick() {
    std::vector<Move> moves;
    for (size_t s = 0; s < stages.size(); ++s)
      for (unsigned t = 0; t < maxStreams; ++t)
        if (const Row *row = head(s, t))
          if (stages[s].running[t] || row->kind == RowKind::Body || (row->kind == RowKind::Send && partner(s, t)))
            if (row->kind != RowKind::Receive)
              moves.push_back({s, t});
    if (moves.empty())
      return std::nullopt;
    if (random() % 4 == 0)
      return moves[random() % moves.size()];
    // Mostly the hastiest stream moves: a fault that needs one stream far ahead of another is then seen.
    return *std::max_element(moves.begin(), moves.end(), [&](Move a, Move b) {
      return stages[a.stage].haste[a.stream] < stages[b.stage].haste[b.stream];
    });
  }

  bool apply(Move move) {
    const Row row = *head(move.stage, move.stream);
    bool starts = !stages[move.stage].running[move.stream];
    bool right = uses(stages[move.stage], row, starts);
    std::optional<Move> other = row.kind == RowKind::Send ? partner(move.stage, move.stream) : std::nullopt;
    if (other) {
      const Row &receive = *head(other->stage, other->stream);
      right = right && receive.index == row.index && receive.microbatch == row.microbatch &&
              uses(stages[other->stage], receive, starts);
      step(*other, starts);
    }
    step(move, starts);
    return right;
  }

  void step(Move move, bool starts) {
    stages[move.stage].running[move.stream] = starts;
    stages[move.stage].done[move.stream] += !starts;
  }

  /// Whether the row finds in its slot what it needs, at its start and at its end; leaves there what it makes.
  bool uses(Stage &stage, const Row &row, bool starts) const {
    if (row.kind == RowKind::Body && oncePerStep(bodyKind(row))) {
      bool isBegin = bodyKind(row) == BodyKind::Begin;
      stage.once += starts;
      stage.begun |= isBegin && !starts;
      return isBegin || stage.summed == tables.microbatches;
    }
    if (!starts && !stage.happened.insert({int(row.kind), row.index, row.microbatch}).second)
      return false;
    Slot &slot = stage.slots[row.slot];
    bool first = &stage == &stages.front(), last = &stage == &stages.back();
    bool activation = row.kind != RowKind::Body && tables.messages[row.index].values == Values::Activation;
    bool forward = row.kind == RowKind::Body && bodyKind(row) == BodyKind::Forward;
    if (starts && ((row.kind == RowKind::Receive && activation) || (forward && first)))
      slot = Slot{.owner = row.microbatch, .activation = forward};
    if (slot.owner != row.microbatch)
      return false;
    if (row.kind == RowKind::Receive)
      return (activation ? slot.activation : slot.gradient) = !starts, true;
    if (row.kind == RowKind::Send)
      return activation ? slot.kept : slot.result;
    if (forward)
      return (slot.kept = !starts), stage.begun && slot.activation;
    slot.result = !starts;
    bool inOrder = starts || stage.summed++ == row.microbatch;
    return slot.kept && (last || slot.gradient) && inOrder && stage.begun;
  }

  const Tables &tables;
  std::mt19937 &random;
  std::vector<Stage> stages;
};

/// One small change somewhere; the table keeps its shape.
void damage(Tables &tables, std::mt19937 &random) {
  Table &table = tables.stages[random() % tables.stages.size()];
  Row &row = table.rows[random() % table.rows.size()];
  std::array<uint32_t, maxStreams> rows{};
  for (const Row &other : table.rows)
    ++rows[other.stream];
  unsigned stream = random() % table.streams.size();
  switch (random() % 5) {
  case 0: // a wait changes
    row.wait[stream] = stream == row.stream ? 0 : random() % (rows[stream] + 1);
    break;
  case 1: // a wait is one too small
    for (uint32_t &wait : row.wait)
      wait -= wait > 0;
    break;
  case 2: // a slot changes
    row.slot = row.kind == RowKind::Body && oncePerStep(bodyKind(row)) ? 0 : random() % table.slots;
    break;
  case 3: // two rows of a stream change places
    for (Row &other : table.rows)
      if (&other > &row && other.stream == row.stream) {
        std::swap(row, other);
        break;
      }
    break;
  case 4: // a row is of another microbatch
    row.microbatch = row.kind == RowKind::Body && oncePerStep(bodyKind(row)) ? 0 : random() % tables.microbatches;
    break;
  }
}

TEST(JudgeRandom, AgreesWithRuns) {
  std::mt19937 random(1);
  int accepted = 0, rejected = 0;
  for (int draw = 0; draw < 2000; ++draw) {
    Problem problem = problemOf(1 + draw % 3, 2 + draw % 4);
    Tables tables = solved(draw % 2 ? "1f1b" : "gpipe", problem);
    for (int changes = draw % 3; changes >= 0; --changes)
      damage(tables, random);
    Faults faults = judge(problem, tables);
    int wrong = 0;
    for (int run = 0; run < 60 && !wrong; ++run)
      wrong += !RandomRun(tables, random).goesRight();
    (faults.empty() ? accepted : rejected)++;
    EXPECT_EQ(faults.empty(), !wrong) << text(faults) << printTables(tables);
  }
  EXPECT_GT(accepted, 300);
  EXPECT_GT(rejected, 1000);
}

TEST(JudgeRandom, SoundTablesGoRight) {
  std::mt19937 random(2);
  for (uint32_t p = 1; p <= 4; ++p)
    for (const char *name : {"gpipe", "1f1b"})
      for (int run = 0; run < 20; ++run)
        ASSERT_TRUE(RandomRun(solved(name, problemOf(p, 5)), random).goesRight()) << name << " p=" << p;
}

} // namespace
} // namespace hocket::schedule
