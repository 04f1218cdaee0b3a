// The judge's checks of one stage after the other: each body and message once, what it reads is there, slots, sums in
// order.
#include "passes/Schedule/Judge.h"

#include "passes/Schedule/Deadlock.h"
#include "passes/Schedule/HappensBefore.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>

namespace hocket::schedule {
namespace {

/// What a (chunk, microbatch) does on its stage, in the order of its life.
enum Role {
  ReceiveActivation,
  Forward,
  SendActivation,
  Recompute,
  ReceiveGradient,
  Backward,
  SendGradient,
  WeightGrad
};
constexpr unsigned roles = 8;

/// One chunk of the stage in hand: its neighbours in the model.
struct Chunk {
  std::optional<Place> before, after; // none at the ends of the model
  bool beforeIsHere = false, afterIsHere = false;
};

class StageJudge {
public:
  StageJudge(const Problem &problem, const RowGraph &graph, const Execution &execution, HappensBefore &order,
             uint32_t stage, const std::vector<RowId> &circle, Faults &faults)
      : problem(problem), graph(graph), execution(execution), order(order), stage(stage), circle(circle),
        chains(problem), faults(faults), chunks(problem.chunks), rows(size_t(problem.chunks) * problem.microbatches) {
    for (auto &row : rows)
      row.fill(noRow);
    order.enterStage(stage);
  }

  void findNeighbours(uint32_t virtualStage) {
    Chunk &chunk = chunks[problem.place(virtualStage).chunk];
    if (virtualStage > 0)
      chunk.before = problem.place(virtualStage - 1);
    if (virtualStage + 1 < problem.virtualStages())
      chunk.after = problem.place(virtualStage + 1);
    chunk.beforeIsHere = chunk.before && chunk.before->stage == stage;
    chunk.afterIsHere = chunk.after && chunk.after->stage == stage;
  }

  void judge() {
    collect();
    checkComplete();
    for (uint32_t c = 0; c < problem.chunks; ++c)
      for (uint32_t i = 0; i < problem.microbatches && !enough(); ++i)
        checkReads(c, i);
    checkSlots();
  }

  /// Of a deadlock: what its rows lack beside, and what could not be told.
  std::vector<std::string> notesOfDeadlock() const {
    std::vector<std::string> notes = lackedInCircle;
    if (unjudged)
      notes.push_back(fmt::format("stage {}: not judged, since only rows that never run say so: that {}{}", stage,
                                  firstUnjudged, unjudged > 1 ? fmt::format(", and {} more", unjudged - 1) : ""));
    return notes;
  }

  /// A table of a million rows can have a million faults, and each costs a search: nobody reads them.
  bool enough() const { return faults.size() > 10 * maxFaults; }

private:
  using Rows = std::array<RowId, roles>;
  Rows &at(uint32_t chunk, uint32_t microbatch) { return rows[size_t(chunk) * problem.microbatches + microbatch]; }
  std::string where(RowId id) const { return sayWhere(graph, execution, id); }
  std::string what(RowId id) const { return describe(graph.tables, graph.row(id)); }
  void fault(std::string text, std::vector<std::string> notes = {}) {
    faults.push_back({std::move(text), std::move(notes)});
  }

  bool needed(Role role, const Chunk &chunk) const {
    switch (role) {
    case Forward:
      return true;
    case ReceiveActivation:
      return chunk.before && !chunk.beforeIsHere;
    case SendActivation:
      return chunk.after && !chunk.afterIsHere;
    case ReceiveGradient:
      return chunk.after && !chunk.afterIsHere && !problem.evaluate;
    case SendGradient:
      return chunk.before && !chunk.beforeIsHere && !problem.evaluate;
    case Backward:
      return !problem.evaluate;
    case WeightGrad:
      return problem.splitWeightGrad && !problem.evaluate;
    case Recompute:
      return false;
    }
    return false;
  }

  /// The role of a body, or nothing for one that this problem does not have.
  std::optional<Role> roleOf(BodyKind kind) const {
    if (problem.evaluate)
      return kind == BodyKind::Evaluate ? std::optional(Forward) : std::nullopt;
    switch (kind) {
    case BodyKind::Forward:
      return Forward;
    case BodyKind::Backward:
      return Backward;
    case BodyKind::Recompute:
      return Recompute;
    case BodyKind::WeightGrad:
      return problem.splitWeightGrad ? std::optional(WeightGrad) : std::nullopt;
    default:
      return std::nullopt;
    }
  }

  void collect() {
    for (RowId id = graph.firstOfStage[stage]; id < graph.firstOfStage[stage + 1]; ++id) {
      const Row &row = graph.row(id);
      if (row.kind == RowKind::Body && oncePerStep(bodyKind(row))) {
        bool isBegin = bodyKind(row) == BodyKind::Begin;
        if (!(isBegin ? problem.begin : problem.hasUpdate()))
          fault(fmt::format("{}, a body that this problem does not have", where(id)));
        else
          enter(isBegin ? begin : update, id);
      } else if (row.kind == RowKind::Body) {
        if (std::optional<Role> role = roleOf(bodyKind(row)))
          enter(at(bodyChunk(row), row.microbatch)[*role], id);
        else
          fault(fmt::format("{}, a body that this problem does not have", where(id)));
      } else {
        const Message &message = graph.tables.messages[row.index];
        bool send = row.kind == RowKind::Send, activation = message.values == Values::Activation;
        Role role = activation ? (send ? SendActivation : ReceiveActivation) : (send ? SendGradient : ReceiveGradient);
        enter(at(chunkOf(graph.tables, row), row.microbatch)[role], id);
      }
    }
  }

  void enter(RowId &entry, RowId id) {
    if (entry != noRow)
      fault(fmt::format("{} for the second time", where(id)), {where(entry)});
    else
      entry = id;
  }

  void checkComplete() {
    if (problem.begin && begin == noRow)
      fault(fmt::format("stage {} never runs begin", stage));
    if (problem.hasUpdate() && update == noRow)
      fault(fmt::format("stage {} never runs update", stage));
    for (uint32_t c = 0; c < problem.chunks; ++c)
      for (unsigned role = 0; role < roles; ++role)
        if (needed(Role(role), chunks[c]))
          checkComplete(c, Role(role));
  }

  /// One fault for all microbatches that lack this role.
  void checkComplete(uint32_t c, Role role) {
    std::vector<std::string> missing;
    uint32_t count = 0;
    for (uint32_t i = 0; i < problem.microbatches; ++i) {
      if (at(c, i)[role] != noRow)
        continue;
      uint32_t first = i;
      while (i + 1 < problem.microbatches && at(c, i + 1)[role] == noRow)
        ++i;
      missing.push_back(first == i ? fmt::format("{}", i) : fmt::format("{}-{}", first, i));
      count += i - first + 1;
    }
    if (!count)
      return;
    static const char *const bodies[roles] = {"", "forward", "", "recompute", "", "backward", "", "weight_grad"};
    std::string microbatches = fmt::format("microbatch{} {}{}", count > 1 ? "es" : "", fmt::join(missing, ", "),
                                           problem.chunks > 1 ? fmt::format(" (chunk {})", c) : "");
    if (role == Forward || role == Backward || role == WeightGrad)
      return fault(fmt::format("stage {} never runs {} of {}", stage,
                               role == Forward && problem.evaluate ? "evaluate" : bodies[role], microbatches));
    bool send = role == SendActivation || role == SendGradient;
    bool activation = role == SendActivation || role == ReceiveActivation;
    fault(fmt::format("stage {} never {} the {} of {} {} stage {}", stage, send ? "sends" : "receives",
                      activation ? "activation" : "gradient", microbatches, send ? "to" : "from",
                      send == activation ? chunks[c].after->stage : chunks[c].before->stage));
  }

  /// A row that waits in the circle of a deadlock for what it should not may wait for nothing else: that is one fault.
  void faultOfOrder(RowId of, std::string text, std::vector<std::string> notes) {
    if (std::find(circle.begin(), circle.end(), of) != circle.end())
      return lackedInCircle.push_back(std::move(text));
    faults.push_back({std::move(text), std::move(notes), {}, /*ofOrder=*/true});
  }

  /// order.before(), and an account of what a deadlock leaves open.
  bool before(RowId a, RowId b) {
    if (!order.before(a, b))
      return false;
    if (!execution.finished() && !order.beforeByRowsThatRan(a, b) && !unjudged++)
      firstUnjudged = fmt::format("{} waits for the {}", what(b), what(a));
    return true;
  }

  /// `reader` must start after `source` has finished; missing rows are told elsewhere.
  void require(RowId source, RowId reader) {
    if (source == noRow || reader == noRow || before(source, reader))
      return;
    lacking.insert({graph.row(reader).microbatch, {source, reader}});
    faultOfOrder(reader, fmt::format("{} does not wait for the {}", where(reader), what(source)), {where(source)});
  }

  void checkReads(uint32_t c, uint32_t i) {
    const Rows &r = at(c, i);
    require(begin, r[Forward]);
    require(r[ReceiveActivation], r[Forward]);
    require(r[Forward], r[SendActivation]);
    require(r[Forward], r[Backward]);
    require(r[ReceiveGradient], r[Backward]);
    require(r[Backward], r[SendGradient]);
    require(r[Backward], r[WeightGrad]);
    require(r[Forward], r[Recompute]);
    require(r[Recompute], r[Backward]);
    if (chunks[c].beforeIsHere)
      require(at(chunks[c].before->chunk, i)[Forward], r[Forward]);
    if (chunks[c].afterIsHere)
      require(at(chunks[c].after->chunk, i)[Backward], r[Backward]);
    if (problem.evaluate)
      return require(r[Forward], update);
    RowId adds = r[problem.splitWeightGrad ? WeightGrad : Backward];
    require(adds, update);
    RowId previous = i ? at(c, i - 1)[problem.splitWeightGrad ? WeightGrad : Backward] : noRow;
    if (previous != noRow && adds != noRow && !before(previous, adds))
      faultOfOrder(adds, fmt::format("{} adds weight gradients before those of microbatch {}", where(adds), i - 1),
                   {where(previous)});
  }

  /// One microbatch of a chain of chunks in its slot.
  struct Occupant {
    uint32_t slot, chunk, microbatch; // chunk: the first of the chain
    RowId first;                      // writes the slot first: the receive of the activation, else the forward
  };

  void checkSlots() {
    uint32_t slots = graph.tables.stages[stage].slots;
    if (problem.maxInFlight && slots > problem.maxInFlight)
      fault(fmt::format("stage {} has {} slots; at most {} microbatches may be in flight", stage, slots,
                        problem.maxInFlight));
    std::vector<Occupant> occupants;
    for (uint32_t c = 0; c < problem.chunks; ++c)
      for (uint32_t i = 0; i < problem.microbatches && chains.head(stage, c) == c; ++i)
        if (RowId first = firstOf(at(c, i)); first != noRow)
          occupants.push_back({graph.row(first).slot, c, i, first});
    auto time = [&](const Occupant &o) { return std::tuple(o.slot, execution.sequence[o.first], o.first); };
    std::sort(occupants.begin(), occupants.end(),
              [&](const Occupant &a, const Occupant &b) { return time(a) < time(b); });
    for (size_t n = 0; n < occupants.size() && !enough(); ++n) {
      checkOneSlot(occupants[n]);
      if (n && occupants[n - 1].slot == occupants[n].slot)
        checkOverwrite(occupants[n - 1], occupants[n]);
    }
  }

  static RowId firstOf(const Rows &r) {
    for (RowId id : r)
      if (id != noRow)
        return id;
    return noRow;
  }

  void checkOneSlot(const Occupant &occupant) {
    for (RowId id : usersOf(occupant))
      if (graph.row(id).slot != occupant.slot)
        fault(fmt::format("{} uses slot {}, but its microbatch lies in slot {}", where(id), graph.row(id).slot,
                          occupant.slot),
              {where(occupant.first)});
  }

  std::vector<RowId> usersOf(const Occupant &occupant) {
    std::vector<RowId> users;
    for (uint16_t chunk : chains.of(stage, occupant.chunk))
      for (RowId id : at(chunk, occupant.microbatch))
        if (id != noRow)
          users.push_back(id);
    return users;
  }

  /// Whether `a` is before `b` once a row of these microbatches waits for what it was told to lack.
  bool beforeOnceMended(RowId a, RowId b, std::initializer_list<uint32_t> microbatches) {
    for (uint32_t i : microbatches)
      for (auto [it, end] = lacking.equal_range(i); it != end; ++it)
        if (auto [source, reader] = it->second;
            (a == source || before(a, source)) && (b == reader || before(reader, b)))
          return true;
    return false;
  }

  void checkOverwrite(const Occupant &old, const Occupant &now) {
    const Rows &writers = at(now.chunk, now.microbatch);
    if (needed(ReceiveActivation, chunks[now.chunk]) && writers[ReceiveActivation] == noRow)
      return; // its forward looks like the first to write the slot only because the receive is missing, which is told
    std::vector<RowId> users = usersOf(old);
    RowId gradient = at(chains.of(stage, now.chunk).back(), now.microbatch)[ReceiveGradient];
    for (RowId writer : {now.first, gradient}) {
      std::vector<std::string> open;
      for (RowId id : users)
        if (writer != noRow && id != writer && !before(id, writer) &&
            !beforeOnceMended(id, writer, {old.microbatch, now.microbatch}))
          open.push_back(where(id));
      if (open.empty())
        continue;
      return faultOfOrder(writer,
                          fmt::format("{} writes slot {} while microbatch {}{} may still use it", where(writer),
                                      now.slot, old.microbatch,
                                      problem.chunks > 1 ? fmt::format(" (chunk {})", old.chunk) : ""),
                          open);
    }
  }

  const Problem &problem;
  const RowGraph &graph;
  const Execution &execution;
  HappensBefore &order;
  uint32_t stage;
  const std::vector<RowId> &circle; // rows of a deadlock that is told, each there by its own waits
  const Chains chains;
  Faults &faults;
  std::vector<Chunk> chunks;
  std::vector<Rows> rows; // by chunk, microbatch
  RowId begin = noRow, update = noRow;
  std::multimap<uint32_t, std::pair<RowId, RowId>> lacking; // by microbatch: source, and reader that does not wait
  std::vector<std::string> lackedInCircle;
  size_t unjudged = 0;
  std::string firstUnjudged;
};

void limit(Faults &faults) {
  if (faults.size() <= maxFaults)
    return;
  size_t more = faults.size() - maxFaults;
  bool ofOrder =
      std::all_of(faults.begin() + maxFaults, faults.end(), [](const Fault &fault) { return fault.ofOrder; });
  faults.resize(maxFaults);
  faults.push_back(
      {fmt::format("{}{} more fault{}", more > 9 * maxFaults ? "at least " : "", more, more > 1 ? "s" : ""),
       {},
       {},
       ofOrder});
}

} // namespace

Faults judge(const Problem &problem, const Tables &tables, Semantics semantics) {
  Faults faults;
  if (!check(problem, faults) || !checkShape(tables, faults) || !checkFit(problem, tables, faults)) {
    limit(faults);
    return faults;
  }
  RowGraph graph(tables);
  Execution execution = execute(graph, problem, semantics);
  size_t deadlock = faults.size();
  std::vector<RowId> circle;
  if (std::optional<Fault> found = findDeadlock(graph, execution, semantics, &circle))
    faults.push_back(*found);
  checkEdges(graph, execution, faults);
  checkResident(problem, graph, execution, semantics, faults);
  std::vector<std::vector<uint32_t>> virtualStagesOf(problem.stages);
  for (uint32_t k = 0; k < problem.virtualStages(); ++k)
    virtualStagesOf[problem.place(k).stage].push_back(k);
  HappensBefore order(graph, execution, semantics);
  for (uint32_t s = 0; s < problem.stages; ++s) {
    StageJudge stage(problem, graph, execution, order, s, circle, faults);
    for (uint32_t k : virtualStagesOf[s])
      stage.findNeighbours(k);
    stage.judge();
    for (const std::string &note : stage.notesOfDeadlock())
      faults[deadlock].notes.push_back(note);
  }
  limit(faults);
  return faults;
}

} // namespace hocket::schedule
