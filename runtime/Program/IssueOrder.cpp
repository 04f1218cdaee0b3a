// The execution of all stages together that IssueOrder.h speaks of: event-driven, every row as early as it can.
#include "runtime/Program/IssueOrder.h"
#include "runtime/Program/Check.h"
#include "runtime/Program/OpKinds.h"
#include <algorithm>
#include <map>
#include <numeric>
#include <queue>

namespace hocket::program {

const Entry *findEntry(const RankProgram &rank, std::string_view name) {
  for (const Entry *entry : *rank.entries())
    if (entry->name()->string_view() == name)
      return entry;
  return nullptr;
}

std::vector<uint32_t> crossingCollectives(const Program &program, const Body &body) {
  std::vector<uint32_t> list;
  for (const Instruction *instruction : *body.instructions())
    if (isCollective(instruction->op()) &&
        spansStages(program, *program.communicators()->Get(instruction->communicator())))
      list.push_back(instruction->communicator());
  return list;
}

namespace {
struct Stream {
  std::vector<uint32_t> rows;
  std::vector<double> ends; // of the rows done
  bool queued = false;      // the first row that is not done
  double ready = 0;         // of a message that waits for its other end
  size_t done() const { return ends.size(); }
};

struct Stage {
  const RankProgram *rank;
  const Entry *entry;
  std::vector<Stream> streams;
  std::vector<std::vector<uint32_t>> crossing; // by body
  std::optional<size_t> within;                // the body at the head of stream 0: its collectives that are done
  std::vector<uint32_t> order;
};

// What can be done next. Of the same time: messages first, so that none stands behind what a body issues; then as
// found.
struct Event {
  double start;
  bool body;
  uint64_t found;
  uint32_t stage, stream;
  bool operator>(const Event &other) const {
    return std::tie(start, body, found) > std::tie(other.start, other.body, other.found);
  }
};

class JointExecution {
public:
  JointExecution(const Program &program, std::string_view name) : program(program) {
    for (const RankProgram *rank : *program.ranks()) {
      Stage &stage = stages.emplace_back(Stage{rank, findEntry(*rank, name), {}, {}, {}, {}});
      if (!stage.entry)
        continue;
      stage.streams.resize(stage.entry->streams() ? stage.entry->streams()->size() : 0);
      for (uint32_t i = 0; i < stage.entry->rows()->size(); ++i)
        stage.streams[stage.entry->rows()->Get(i)->stream()].rows.push_back(i);
      for (const Body *body : *rank->bodies())
        stage.crossing.push_back(crossingCollectives(program, *body));
    }
  }

  std::optional<std::vector<std::vector<uint32_t>>> run() {
    for (const Stage &stage : stages)
      if (!stage.entry)
        return std::nullopt;
    for (uint32_t s = 0; s < stages.size(); ++s)
      look(s);
    do
      while (!events.empty()) {
        Event event = events.top();
        events.pop();
        happen(event);
      }
    while (meetAcross()); // only when nothing else can go on, so that messages are never behind them
    std::vector<std::vector<uint32_t>> orders;
    for (Stage &stage : stages) {
      if (stage.order.size() != stage.entry->rows()->size())
        return std::nullopt;
      orders.push_back(std::move(stage.order));
    }
    return orders;
  }

private:
  const Row &head(const Stage &stage, const Stream &stream) const {
    return *stage.entry->rows()->Get(stream.rows[stream.done()]);
  }

  // When the first row of the stream that is not done may start, as far as its own stage is concerned.
  std::optional<double> readyAt(const Stage &stage, const Stream &stream) const {
    if (stream.done() == stream.rows.size())
      return std::nullopt;
    double ready = stream.ends.empty() ? 0 : stream.ends.back();
    const Row &row = head(stage, stream);
    for (uint32_t other = 0; other < stage.streams.size(); ++other) {
      uint32_t wait = row.wait()->Get(other);
      if (wait > stage.streams[other].done())
        return std::nullopt;
      if (wait)
        ready = std::max(ready, stage.streams[other].ends[wait - 1]);
    }
    return ready;
  }

  bool crosses(const Stage &stage, const Row &row) const {
    return row.kind() == RowKind::Body && !stage.crossing[row.index()].empty();
  }

  // Finds what the stage can do now.
  void look(uint32_t index) {
    Stage &stage = stages[index];
    for (uint32_t s = 0; s < stage.streams.size(); ++s) {
      Stream &stream = stage.streams[s];
      std::optional<double> ready = stream.queued ? std::nullopt : readyAt(stage, stream);
      if (!ready)
        continue;
      const Row &row = head(stage, stream);
      if (crosses(stage, row))
        continue;
      stream.queued = true;
      stream.ready = *ready;
      if (row.kind() == RowKind::Body)
        events.push({*ready, true, found++, index, s});
      else
        offer(index, s, stage.rank->messages()->Get(row.index())->communicator(), row.kind());
    }
  }

  void offer(uint32_t index, uint32_t stream, uint32_t communicator, RowKind kind) {
    auto &[from, to] = offered[communicator];
    (kind == RowKind::Send ? from : to) = {index, stream};
    if (!from || !to)
      return;
    double start =
        std::max(stages[from->first].streams[from->second].ready, stages[to->first].streams[to->second].ready);
    events.push({start, false, found++, from->first, from->second});
  }

  double duration(const Stage &stage, const Row &row) const {
    switch (stage.rank->bodies()->Get(row.index())->kind()) {
    case BodyKind::Begin:
    case BodyKind::Update:
      return 0;
    case BodyKind::Backward:
    case BodyKind::FinalBackward:
      return 2;
    default:
      return 1;
    }
  }

  void finish(uint32_t index, uint32_t stream, double end) {
    Stage &stage = stages[index];
    stage.streams[stream].ends.push_back(end);
    stage.streams[stream].queued = false;
  }

  void happen(const Event &event) {
    Stage &stage = stages[event.stage];
    Stream &stream = stage.streams[event.stream];
    const Row &row = head(stage, stream);
    stage.order.push_back(stream.rows[stream.done()]);
    if (event.body) {
      finish(event.stage, event.stream, event.start + duration(stage, row));
      return look(event.stage);
    }
    auto &ends = offered[stage.rank->messages()->Get(row.index())->communicator()];
    auto [index, other] = *ends.second;
    ends = {};
    Stage &receiver = stages[index];
    receiver.order.push_back(receiver.streams[other].rows[receiver.streams[other].done()]);
    finish(event.stage, event.stream, event.start);
    finish(index, other, event.start);
    look(event.stage);
    look(index);
  }

  // Bodies with collectives across stages: as far as they get. Whether anything moved.
  bool meetAcross() {
    bool any = false;
    for (bool moved = true; moved;) {
      moved = false;
      for (uint32_t s = 0; s < stages.size(); ++s)
        moved |= arrive(s) || meet(s);
      any |= moved;
    }
    return any;
  }

  bool arrive(uint32_t index) {
    Stage &stage = stages[index];
    Stream &compute = stage.streams.front();
    if (stage.within || !readyAt(stage, compute) || !crosses(stage, head(stage, compute)))
      return false;
    stage.within = 0;
    compute.queued = true;
    compute.ready = *readyAt(stage, compute);
    stage.order.push_back(compute.rows[compute.done()]);
    return true;
  }

  const std::vector<uint32_t> &crossingOf(const Stage &stage) const {
    return stage.crossing[head(stage, stage.streams.front()).index()];
  }

  // The next collective of the body that the stage is in, if all who take part are at it.
  bool meet(uint32_t index) {
    if (!stages[index].within)
      return false;
    uint32_t next = crossingOf(stages[index])[*stages[index].within];
    const Communicator &communicator = *program.communicators()->Get(next);
    std::vector<uint32_t> members;
    for (uint32_t s = 0; s < stages.size(); ++s) {
      if (!memberCount(program, communicator, s))
        continue;
      if (!stages[s].within || crossingOf(stages[s])[*stages[s].within] != next)
        return false;
      members.push_back(s);
    }
    for (uint32_t s : members) {
      Stage &stage = stages[s];
      if (++*stage.within < crossingOf(stage).size())
        continue;
      stage.within.reset();
      finish(s, 0, stage.streams.front().ready);
      look(s);
    }
    return true;
  }

  using End = std::optional<std::pair<uint32_t, uint32_t>>; // stage, stream
  const Program &program;
  std::vector<Stage> stages;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events;
  std::map<uint32_t, std::pair<End, End>> offered; // by edge: the end that sends, the one that receives
  uint64_t found = 0;
};
} // namespace

std::optional<std::vector<std::vector<uint32_t>>> issueOrders(const Program &program, std::string_view entry) {
  return JointExecution(program, entry).run();
}

std::vector<uint32_t> issueOrder(const Entry &entry) {
  std::vector<uint32_t> rows(entry.rows()->size());
  std::iota(rows.begin(), rows.end(), 0);
  return rows;
}

} // namespace hocket::program
