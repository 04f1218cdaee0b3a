// Adds messages, streams, slots and waits to an order of bodies, one stage after the other.
#include "passes/Schedule/Assemble.h"

#include <algorithm>
#include <deque>
#include <fmt/format.h>
#include <map>
#include <memory>

namespace hocket::schedule {
namespace {

constexpr uint32_t none = ~0u;

/// One message instance in the order in which a directed edge carries it.
struct Transfer {
  uint16_t message;
  uint32_t microbatch;
};
using Edge = std::pair<uint32_t, uint32_t>; // from, to

/// Where the message of a chunk goes or comes from.
struct Ports {
  uint32_t sendActivation = none, receiveActivation = none, sendGradient = none, receiveGradient = none;
};

/// What both ends of every edge have to agree on.
struct Wiring {
  Chains chains;
  std::vector<Message> messages;
  std::vector<std::vector<Ports>> ports; // [stage][chunk]
  std::map<Edge, std::vector<Transfer>> edges;
};

Wiring wire(const Problem &problem, const Orders &orders) {
  Wiring wiring{Chains(problem), messagesOf(problem), {}, {}};
  wiring.ports.assign(problem.stages, std::vector<Ports>(problem.chunks));
  for (uint32_t i = 0; i < wiring.messages.size(); ++i) {
    const Message &message = wiring.messages[i];
    Ports &from = wiring.ports[message.from][message.fromChunk], &to = wiring.ports[message.to][message.toChunk];
    bool activation = message.values == Values::Activation;
    (activation ? from.sendActivation : from.sendGradient) = i;
    (activation ? to.receiveActivation : to.receiveGradient) = i;
  }
  for (uint32_t s = 0; s < problem.stages; ++s)
    for (const Step &step : orders[s]) {
      const Ports &ports = wiring.ports[s][step.chunk];
      uint32_t message = step.kind == BodyKind::Forward || step.kind == BodyKind::Evaluate ? ports.sendActivation
                         : step.kind == BodyKind::Backward                                 ? ports.sendGradient
                                                                                           : none;
      if (message != none)
        wiring.edges[{s, wiring.messages[message].to}].push_back({uint16_t(message), step.microbatch});
    }
  return wiring;
}

/// The name of a stage's stream to or from a peer. On two stages the peer is next and previous at once; the nearer
/// holds.
std::string streamName(bool send, uint32_t stage, uint32_t peer, uint32_t stages) {
  const char *verb = send ? "send" : "receive";
  if (peer == stage + 1 || (peer + 1 != stage && (stage + 1) % stages == peer))
    return fmt::format("{}_next", verb);
  if (peer + 1 == stage || (peer + 1) % stages == stage)
    return fmt::format("{}_previous", verb);
  return fmt::format("{}_{}_{}", verb, send ? "to" : "from", peer);
}

/// What one (chunk, microbatch) has reached on a stage. Counts are rows of a stream that have to finish, 0 for none.
struct Flight {
  uint32_t slot = none;
  uint32_t received = 0, forward = 0, sent = 0, gradientReceived = 0;
  uint32_t finished = 0; ///< of a chain's head: chunks of the chain that no longer need the slot
};

class StageBuilder {
public:
  StageBuilder(const Problem &problem, const Wiring &wiring, uint32_t stage, uint32_t slots)
      : problem(problem), wiring(wiring), stage(stage), wantedSlots(slots) {
    flights.resize(size_t(problem.chunks) * problem.microbatches);
    table.streams.push_back("compute");
    // In this order the fixed names of a pipeline stage read as the data flows.
    for (bool next : {false, true})
      for (bool send : {next, !next})
        for (const auto &[edge, transfers] : wiring.edges)
          if ((send ? edge.first : edge.second) == stage) {
            uint32_t peer = send ? edge.second : edge.first;
            std::string name = streamName(send, stage, peer, problem.stages);
            if (name.ends_with("_previous") != next) {
              streamOf[{send, peer}] = table.streams.size();
              table.streams.push_back(std::move(name));
            }
          }
  }

  /// False with a fault where the order cannot be assembled.
  bool build(const std::vector<Step> &order, Faults &faults) {
    if (table.streams.size() > maxStreams) {
      faults.push_back({fmt::format("stage {} has {} streams (compute and one for each directed edge); at most {}",
                                    stage, table.streams.size(), maxStreams),
                        {}});
      return false;
    }
    if (problem.begin)
      add({RowKind::Body, 0, bodyIndex(BodyKind::Begin, 0)});
    for (const Step &step : order)
      if (!addStep(step)) {
        faults.push_back({fmt::format("stage {}: the order runs {} of microbatch {} (chunk {}), but a message before "
                                      "it is never sent or has no slot yet",
                                      stage, name(step.kind), step.microbatch, step.chunk),
                          {}});
        return false;
      }
    if (problem.hasUpdate())
      add({RowKind::Body, 0, bodyIndex(BodyKind::Update, 0)});
    return true;
  }

  Table table;

private:
  Flight &flight(uint32_t chunk, uint32_t microbatch) {
    return flights[size_t(chunk) * problem.microbatches + microbatch];
  }

  using Clock = std::array<uint32_t, maxStreams>; // rows of each stream that have finished

  static void join(Clock &clock, const Clock &other) {
    for (unsigned s = 0; s < maxStreams; ++s)
      clock[s] = std::max(clock[s], other[s]);
  }

  /// Appends a row and returns how many rows its stream then has. A wait that the row before it in its stream or
  /// another of its waits implies is dropped: each that stays is needed.
  uint32_t add(Row row) {
    std::vector<Clock> &rows = clocks[row.stream];
    row.wait[row.stream] = 0;
    Clock known = rows.empty() ? Clock{} : rows.back(), after = known;
    for (unsigned s = 0; s < maxStreams; ++s)
      if (row.wait[s])
        join(after, clocks[s][row.wait[s] - 1]);
    for (unsigned s = 0; s < maxStreams; ++s) {
      Clock implied = known;
      for (unsigned t = 0; t < maxStreams; ++t)
        if (t != s && row.wait[t])
          join(implied, clocks[t][row.wait[t] - 1]);
      if (row.wait[s] <= implied[s])
        row.wait[s] = 0;
    }
    after[row.stream] = uint32_t(rows.size()) + 1;
    rows.push_back(after);
    table.rows.push_back(row);
    return after[row.stream];
  }

  /// Takes a slot for `flight` and asks `row` to wait for all that used it before.
  void takeSlot(Flight &flight, Row &row) {
    if (table.slots < wantedSlots || freeSlots.empty()) {
      flight.slot = table.slots++;
      readers.emplace_back();
    } else {
      flight.slot = freeSlots.front();
      freeSlots.pop_front();
    }
    row.wait = readers[flight.slot];
    row.slot = flight.slot;
  }

  void reads(uint32_t slot, uint8_t stream, uint32_t count) {
    readers[slot][stream] = std::max(readers[slot][stream], count);
  }

  bool addReceive(const Transfer &transfer) {
    const Message &message = wiring.messages[transfer.message];
    Flight &to = flight(message.toChunk, transfer.microbatch);
    uint8_t stream = streamOf[{false, message.from}];
    Row row{RowKind::Receive, stream, transfer.message, transfer.microbatch};
    if (message.values == Values::Activation) {
      takeSlot(to, row);
      to.received = add(row);
      reads(to.slot, stream, to.received);
      return true;
    }
    if (to.slot == none || !to.forward)
      return false;
    row.slot = to.slot;
    row.wait[0] = to.forward;
    if (to.sent)
      row.wait[sendStream(message.toChunk)] = to.sent;
    to.gradientReceived = add(row);
    reads(to.slot, stream, to.gradientReceived);
    return true;
  }

  uint8_t sendStream(uint32_t chunk) {
    return streamOf[{true, wiring.messages[wiring.ports[stage][chunk].sendActivation].to}];
  }

  /// Adds the receives of the message's edge up to its own: an edge carries its messages in the sender's order.
  bool receiveUpTo(uint32_t messageIndex, uint32_t microbatch, uint32_t Flight::*done) {
    const Message &message = wiring.messages[messageIndex];
    auto edge = wiring.edges.find({message.from, stage});
    size_t &next = received[message.from];
    while (!(flight(message.toChunk, microbatch).*done)) {
      if (edge == wiring.edges.end() || next == edge->second.size() || !addReceive(edge->second[next]))
        return false;
      ++next;
    }
    return true;
  }

  void send(uint32_t messageIndex, uint32_t microbatch, uint32_t slot, uint32_t after, uint32_t *sent) {
    uint8_t stream = streamOf[{true, wiring.messages[messageIndex].to}];
    Row row{RowKind::Send, stream, uint16_t(messageIndex), microbatch, slot};
    row.wait[0] = after;
    uint32_t count = add(row);
    reads(slot, stream, count);
    if (sent)
      *sent = count;
  }

  bool addForward(const Step &step) {
    const Ports &ports = wiring.ports[stage][step.chunk];
    Flight &at = flight(step.chunk, step.microbatch);
    Row row{RowKind::Body, 0, bodyIndex(step.kind, step.chunk), step.microbatch};
    if (ports.receiveActivation != none) {
      if (!receiveUpTo(ports.receiveActivation, step.microbatch, &Flight::received))
        return false;
      row.wait[streamOf[{false, wiring.messages[ports.receiveActivation].from}]] = at.received;
      row.slot = at.slot;
    } else if (uint16_t head = wiring.chains.head(stage, step.chunk); head != step.chunk) {
      row.slot = at.slot = flight(head, step.microbatch).slot;
      if (at.slot == none)
        return false;
    } else {
      takeSlot(at, row);
    }
    at.forward = add(row);
    reads(at.slot, 0, at.forward);
    if (ports.sendActivation != none)
      send(ports.sendActivation, step.microbatch, at.slot, at.forward, &at.sent);
    if (problem.evaluate)
      release(step);
    return true;
  }

  /// Frees the slot when the last chunk of its chain is done with it.
  void release(const Step &step) {
    uint16_t head = wiring.chains.head(stage, step.chunk);
    Flight &chain = flight(head, step.microbatch);
    if (++chain.finished == wiring.chains.of(stage, head).size())
      freeSlots.push_back(chain.slot);
  }

  bool addStep(const Step &step) {
    if (step.kind == BodyKind::Forward || step.kind == BodyKind::Evaluate)
      return addForward(step);
    const Ports &ports = wiring.ports[stage][step.chunk];
    Flight &at = flight(step.chunk, step.microbatch);
    Row row{RowKind::Body, 0, bodyIndex(step.kind, step.chunk), step.microbatch, at.slot};
    if (at.slot == none)
      return false;
    if (step.kind == BodyKind::Backward && ports.receiveGradient != none) {
      if (!receiveUpTo(ports.receiveGradient, step.microbatch, &Flight::gradientReceived))
        return false;
      row.wait[streamOf[{false, wiring.messages[ports.receiveGradient].from}]] = at.gradientReceived;
    }
    uint32_t count = add(row);
    reads(at.slot, 0, count);
    if (step.kind == BodyKind::Backward && ports.sendGradient != none)
      send(ports.sendGradient, step.microbatch, at.slot, count, nullptr);
    if (step.kind == problem.accumulatingBody())
      release(step);
    return true;
  }

  const Problem &problem;
  const Wiring &wiring;
  uint32_t stage, wantedSlots;
  std::map<std::pair<bool, uint32_t>, uint8_t> streamOf; // (send, peer)
  std::map<uint32_t, size_t> received;                   // by sender: transfers of its edge that have a row
  std::vector<Flight> flights;
  std::deque<uint32_t> freeSlots;                    // the longest free first: its sends are the likeliest done
  std::vector<Clock> readers;                        // by slot: rows that have to finish before it is overwritten
  std::array<std::vector<Clock>, maxStreams> clocks; // by stream and row: what has finished when that row has
};

} // namespace

std::optional<Tables> assemble(const Problem &problem, const Orders &orders, Faults &faults) {
  size_t before = faults.size();
  Wiring wiring = wire(problem, orders);
  Tables tables{problem.chunks, problem.microbatches, wiring.messages, {}};
  for (uint32_t s = 0; s < problem.stages; ++s) {
    auto built = std::make_unique<StageBuilder>(problem, wiring, s, 0);
    if (!built->build(orders[s], faults))
      continue;
    uint32_t needed = built->table.slots;
    if (problem.maxInFlight && needed > problem.maxInFlight) {
      faults.push_back({fmt::format("stage {} keeps {} microbatches in flight; at most {} are allowed", s, needed,
                                    problem.maxInFlight),
                        {}});
      continue;
    }
    uint64_t wanted =
        std::min<uint64_t>(uint64_t(needed) + problem.receiveAhead, uint64_t(problem.chunks) * problem.microbatches);
    if (problem.maxInFlight)
      wanted = std::min<uint64_t>(wanted, problem.maxInFlight);
    if (wanted > needed) {
      built = std::make_unique<StageBuilder>(problem, wiring, s, uint32_t(wanted));
      built->build(orders[s], faults);
    }
    tables.stages.push_back(std::move(built->table));
  }
  if (faults.size() != before)
    return std::nullopt;
  return tables;
}

} // namespace hocket::schedule
