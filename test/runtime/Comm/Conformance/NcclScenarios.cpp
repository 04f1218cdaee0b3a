// What NCCL promises beyond the interface of communicators, and what goes wrong on it: calls queued on many streams,
// groups, residency, errors that come later.
#include "Conformance/NcclRank.h"
#include "Conformance/Numbers.h"
#include "Conformance/Scenario.h"
#include <cstring>
#include <fmt/format.h>
#include <fmt/ranges.h>

using namespace hocket::runtime;
namespace hocket::test {
namespace {

using Requests = std::vector<std::unique_ptr<Request>>;

// The first of the errors that calls and waits give.
struct FirstError {
  Status status;
  void operator()(Status next) {
    if (status && !next)
      status = std::move(next);
  }
};

void expectError(Rank &rank, const Status &status, ErrorKind kind, std::string_view message) {
  if (status)
    return rank.fail(fmt::format("no error; expected: {}", message));
  if (status.error().kind != kind || status.error().message != message)
    rank.fail(fmt::format("got: {}; expected: {}", status.error().message, message));
}

// Rounds of calls on all communicators, each on a stream that is drawn, nothing waited for before all are queued. Every
// call has its own memory.
void manyAtOnce(Rank &rank) {
  constexpr size_t rounds = 6, count = 700;
  std::vector<std::function<void()>> checks;
  size_t used = 0;
  auto memory = [&](size_t elements) { return rank.arena<float>(std::exchange(used, used + elements * 4)); };
  auto expect = [&](const float *got, std::vector<std::byte> wanted, std::string where) {
    checks.push_back([&rank, got, wanted = std::move(wanted), where = std::move(where)] {
      if (std::memcmp(got, wanted.data(), wanted.size()) != 0)
        rank.fail(where + ": wrong numbers");
    });
  };
  auto fill = [&](float *to, uint64_t member, uint64_t first, size_t elements) {
    auto bytes = values(ElementType::F32, member, first, elements);
    std::memcpy(to, bytes.data(), bytes.size());
  };
  Requests requests;
  for (size_t round = 0; round < rounds; ++round)
    for (auto &comm : rank.communicators) {
      if (!comm)
        continue;
      auto self = static_cast<size_t>(comm->rank()), size = static_cast<size_t>(comm->size());
      uint64_t first = round * 10000 + comm->group().id;
      When when(deadlineIn(patience), rank.nccl->draw().handle());
      std::string where = fmt::format("round {} on {}", round, comm->describe());
      float *in = memory(count * size), *out = memory(count * size);
      fill(in, self, first, count * size);
      if (comm->group().name == "edge") {
        auto posted = self == 0 ? comm->send(in, count, ElementType::F32, 1, when.stream)
                                : comm->receive(out, count, ElementType::F32, 0, when.stream);
        if (!posted)
          return rank.fail(posted.error().message);
        requests.push_back(std::move(*posted));
        if (self == 1)
          expect(out, values(ElementType::F32, 0, first, count), where);
      } else if ((round + comm->group().id) % 3 == 0) {
        rank.check(comm->allReduce(in, out, count, ElementType::F32, Reduction::Sum, when));
        checks.push_back([&rank, out, members = comm->size(), first, where] {
          const auto *got = reinterpret_cast<const std::byte *>(out);
          if (firstWrong(got, ElementType::F32, Reduction::Sum, members, first, count, rank.inOrder) != count)
            rank.fail(where + ": wrong numbers");
        });
      } else if ((round + comm->group().id) % 3 == 1) {
        rank.check(comm->reduceScatter(in, out, count, ElementType::F32, Reduction::Max, when));
        expect(out, reduced(ElementType::F32, Reduction::Max, comm->size(), first + self * count, count), where);
      } else {
        rank.check(comm->allToAll(in, out, count, ElementType::F32, when));
        for (size_t r = 0; r < size; ++r)
          expect(out + r * count, values(ElementType::F32, r, first + self * count, count), where);
      }
    }
  for (auto &request : requests)
    rank.check(request->wait(deadlineIn(patience)));
  rank.check(rank.nccl->finish(patience));
  for (auto &check : checks)
    check();
}

// As manyAtOnce, of a cluster pp2 x dp2 x tp2 as a pipeline program makes them: groups, then directed edges.
std::vector<Group> clusterGroups() {
  std::vector<Group> groups;
  auto add = [&](const char *name, std::vector<int> ranks) {
    groups.push_back({static_cast<uint32_t>(groups.size()), name, std::move(ranks)});
  };
  for (int r : {0, 2, 4, 6})
    add("tp", {r, r + 1});
  for (int r : {0, 1, 4, 5})
    add("dp", {r, r + 2});
  for (int r = 0; r < 4; ++r)
    add("edge", {r, r + 4});
  for (int r = 0; r < 4; ++r)
    add("edge", {r + 4, r});
  add("all", {0, 1, 2, 3, 4, 5, 6, 7});
  return groups;
}

// Collectives in one group, and messages both ways, which without a group would wait for each other.
void groups(Rank &rank) {
  Communicator &comm = *rank.communicators[0];
  auto *x = rank.arena<float>();
  void *stream = rank.nccl->draw().handle();
  When when(deadlineIn(patience), stream);
  for (int i = 0; i < 64; ++i)
    x[i] = static_cast<float>(comm.rank() + i);
  rank.check(rank.world.together(
      [&]() -> Status {
        for (int i : {0, 8, 16})
          if (Status queued = comm.allReduce(x + i, x + i, 8, ElementType::F32, Reduction::Sum, when); !queued)
            return queued;
        for (int peer = 0; peer < comm.size(); ++peer) {
          if (auto sent = comm.send(x + 40, 2, ElementType::F32, peer, stream); !sent)
            return sent.error();
          if (auto received = comm.receive(x + 48 + 2 * peer, 2, ElementType::F32, peer, stream); !received)
            return received.error();
        }
        return {};
      },
      when.deadline));
  rank.check(rank.nccl->finish(patience));
  std::vector<std::string> wanted(3, "ep: all_reduce sum of 8 f32");
  for (int peer = 0; peer < comm.size(); ++peer)
    for (const char *call : {"send of 2 f32 to", "receive of 2 f32 from"})
      wanted.push_back(fmt::format("ep: {} member {}", call, peer));
  if (rank.nccl->emulated() && rank.nccl->issued != wanted)
    rank.fail(fmt::format("issued: {}", fmt::join(rank.nccl->issued, "; ")));
  auto n = static_cast<float>(comm.size());
  for (int i = 0; i < 24; ++i)
    if (x[i] != n * (n - 1) / 2 + n * static_cast<float>(i))
      rank.fail(fmt::format("element {} is {}", i, x[i]));
  for (int peer = 0; peer < comm.size(); ++peer)
    if (x[48 + 2 * peer] != static_cast<float>(peer + 40))
      rank.fail(fmt::format("the message of member {} holds {}", peer, x[48 + 2 * peer]));
}

// Calls that a graph has captured, launched again with other numbers.
void captured(Rank &rank) {
  Communicator &comm = *rank.communicators[0];
  Stream &stream = *rank.nccl->streams[0];
  Device &device = rank.nccl->device();
  auto *x = rank.arena<float>(), *sum = x + 100, *next = x + 200;
  When when(deadlineIn(patience), stream.handle());
  auto calls = [&] {
    FirstError error;
    error(rank.world.together(
        [&] {
          FirstError within;
          within(comm.allReduce(x, sum, 50, ElementType::F32, Reduction::Sum, when));
          within(comm.allReduce(x + 50, sum + 50, 50, ElementType::F32, Reduction::Max, when));
          return within.status;
        },
        when.deadline));
    error(comm.shiftRing(sum, next, 100, ElementType::F32, when));
    return error.status;
  };
  auto expect = [&](float base, const char *which) {
    rank.check(rank.nccl->finish(patience));
    auto n = static_cast<float>(comm.size());
    for (int i = 0; i < 100; ++i)
      if (float wanted = i < 50 ? n * base + n * (n - 1) / 2 : base + n - 1; sum[i] != wanted || next[i] != wanted)
        return rank.fail(fmt::format("{}: element {} is {} and {}, not {}", which, i, sum[i], next[i], wanted));
  };
  std::fill_n(x, 100, static_cast<float>(comm.rank()));
  rank.check(calls()); // the first calls connect
  expect(0, "queued");
  rank.check(device.beginCapture(stream));
  rank.check(calls());
  Result<std::unique_ptr<Graph>> graph = device.endCapture(stream);
  if (!graph)
    return rank.fail(graph.error().message);
  for (float base : {3.0f, 5.0f}) {
    std::fill_n(x, 100, base + static_cast<float>(comm.rank()));
    rank.check(device.launch(stream, **graph));
    expect(base, "as a graph");
  }
}

// Every rank sends to the next, then receives: each send waits for a call that its peer has queued behind its own.
void ringWithoutGroup(Rank &rank) {
  Communicator &comm = *rank.communicators[0];
  int n = comm.size(), next = (comm.rank() + 1) % n, before = (comm.rank() + n - 1) % n;
  auto *x = rank.arena<float>();
  auto sent = comm.send(x, 4, ElementType::F32, next), received = comm.receive(x + 4, 4, ElementType::F32, before);
  if (!sent || !received)
    return rank.fail("a message was not queued");
  expectError(rank, (*sent)->wait(deadlineIn(0.3)), ErrorKind::Timeout,
              "communicator 0 \"cp\" of ranks 0, 1, 2: a message did not arrive by its deadline");
  expectError(rank, rank.nccl->finish(0.1), ErrorKind::Timeout,
              "the work queued on a stream was not done by its deadline");
}

// Rank 0 may begin communicator 1 only beside communicator 0, which rank 1 calls later.
void residency(Rank &rank) {
  auto *x = rank.arena<float>();
  auto call = [&](int on, int stream) {
    rank.check(rank.communicators[on]->allReduce(x + on, x + on, 1, ElementType::F32, Reduction::Sum,
                                                 {deadlineIn(patience), rank.nccl->streams[stream]->handle()}));
  };
  if (rank.world.rank() == 0) {
    call(0, 0);
    if (rank.nccl->finish(0.2))
      rank.fail("a call is complete that rank 1 has not begun");
    call(1, 1);
  } else {
    call(1, 0);
    call(0, 0);
  }
  Status finished = rank.nccl->finish(std::getenv("HOCKET_TEST_RESIDENT") ? 1 : patience);
  if (!finished)
    rank.fail(finished.error().message);
}

// Each rank's calls on communicator 0, then what every one of them hears.
Status callsOf(Rank &rank, const std::function<Status(Communicator &, float *, When)> &calls) {
  Communicator &comm = *rank.communicators[0];
  FirstError first;
  first(calls(comm, rank.arena<float>(), {deadlineIn(patience), rank.nccl->streams[0]->handle()}));
  first(rank.nccl->finish(patience));
  return first.status;
}

void mismatchedCounts(Rank &rank) {
  auto calls = [&](Communicator &comm, float *x, When when) {
    return comm.allReduce(x, x, rank.world.rank() == 2 ? 7 : 8, ElementType::F32, Reduction::Sum, when);
  };
  const char *message = "communicator 0 \"dp\" of ranks 0, 1, 2: asynchronous error: invalid usage: communicator 0 "
                        "\"dp\" of ranks 0, 1, 2: rank 0 calls all_reduce sum of 8 f32, rank 2 calls all_reduce sum of "
                        "7 f32";
  expectError(rank, callsOf(rank, calls), ErrorKind::Invalid, message);
  expectError(rank, callsOf(rank, calls), ErrorKind::Invalid, message); // a failed communicator stays so
}

void mismatchedTypes(Rank &rank) {
  bool first = rank.world.rank() == 0;
  auto calls = [&](Communicator &comm, float *x, When when) {
    return comm.broadcast(x, first ? 4 : 8, first ? ElementType::F32 : ElementType::BF16, 1, when);
  };
  expectError(
      rank, callsOf(rank, calls), ErrorKind::Invalid,
      "communicator 0 \"tp\" of ranks 0, 1: asynchronous error: invalid usage: communicator 0 \"tp\" of ranks 0, "
      "1: rank 0 calls broadcast of 4 f32 from member 1, rank 1 calls broadcast of 8 bf16 from member 1");
}

// The same two collectives, in another order.
void mismatchedOrder(Rank &rank) {
  bool first = rank.world.rank() == 0;
  auto calls = [&](Communicator &comm, float *x, When when) {
    FirstError error;
    for (bool gathers : {first, !first})
      error(gathers ? comm.allGather(x, x + 100, 8, ElementType::F32, when)
                    : comm.allReduce(x, x, 8, ElementType::F32, Reduction::Sum, when));
    return error.status;
  };
  expectError(
      rank, callsOf(rank, calls), ErrorKind::Invalid,
      "communicator 0 \"tp\" of ranks 0, 1: asynchronous error: invalid usage: communicator 0 \"tp\" of ranks 0, "
      "1: rank 0 calls all_gather of 8 f32, rank 1 calls all_reduce sum of 8 f32");
}

// A message on one side, a collective on the other.
void messageAgainstCollective(Rank &rank) {
  bool first = rank.world.rank() == 0;
  auto calls = [&](Communicator &comm, float *x, When when) -> Status {
    if (!first)
      return comm.allReduce(x, x, 8, ElementType::F32, Reduction::Sum, when);
    auto sent = comm.send(x, 8, ElementType::F32, 1, when.stream);
    return sent ? Status() : Status(sent.error());
  };
  expectError(rank, callsOf(rank, calls), ErrorKind::Invalid,
              first
                  ? "communicator 0 \"tp\" of ranks 0, 1: asynchronous error: invalid usage: communicator 0 \"tp\" of "
                    "ranks 0, 1: rank 0 sends or receives a message, rank 1 calls a collective"
                  : "communicator 0 \"tp\" of ranks 0, 1: asynchronous error: invalid usage: communicator 0 \"tp\" of "
                    "ranks 0, 1: rank 1 calls all_reduce sum of 8 f32, rank 0 sends or receives a message");
}

void mismatchedMessage(Rank &rank) {
  bool first = rank.world.rank() == 0;
  auto calls = [&](Communicator &comm, float *x, When when) -> Status {
    auto posted = first ? comm.send(x, 128, ElementType::F32, 1, when.stream)
                        : comm.receive(x, 64, ElementType::F32, 0, when.stream);
    return posted ? Status() : Status(posted.error());
  };
  Status status = callsOf(rank, calls);
  std::string_view wanted = "on communicator 0 \"pp 0->1\" of ranks 0, 1: 128 f32 sent, 64 f32 received";
  if (status || !status.error().message.ends_with(wanted))
    rank.fail(status ? "no error" : status.error().message);
}

void badArguments(Rank &rank) {
  Communicator &comm = *rank.communicators[0];
  When when(deadlineIn(patience), rank.nccl->streams[0]->handle());
  expectError(rank, comm.broadcast(rank.arena(), 1, ElementType::F32, 2, when), ErrorKind::Invalid,
              "communicator 0 \"dp\" of ranks 1, 0: ncclBroadcast: invalid argument: broadcast from member 2 on "
              "communicator 0 \"dp\" of ranks 1, 0; members are 0 to 1");
}

// The sum that one call of a group makes is what another gathers.
void sameMemoryInAGroup(Rank &rank) {
  Communicator &comm = *rank.communicators[0];
  auto *x = rank.arena<float>();
  When when(deadlineIn(patience), rank.nccl->streams[0]->handle());
  auto calls = [&] {
    Status queued = comm.allReduce(x, x, 8, ElementType::F32, Reduction::Sum, when);
    return queued ? comm.allGather(x + 7, x + 16, 1, ElementType::F32, when) : queued;
  };
  expectError(
      rank, rank.world.together(calls, when.deadline), ErrorKind::Invalid,
      "ncclGroupEnd: invalid usage: communicator 0 \"dp\" of ranks 1, 0: all_reduce sum of 8 f32 and all_gather of 1 "
      "f32 of one group touch the same memory, and nothing orders them");
}

// Rank 2 gives up; the others' waits, with all the time in the world, end.
void aborted(Rank &rank) {
  if (rank.world.rank() == 2) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    return rank.world.abort("the loss is not finite");
  }
  auto calls = [&](Communicator &comm, float *x, When when) {
    return comm.allReduce(x, x, 8, ElementType::F32, Reduction::Sum, when);
  };
  Status status = callsOf(rank, calls);
  rank.world.abort("as a rank does that has failed"); // what is queued would keep its communicator
  if (status || status.error().kind != ErrorKind::Aborted ||
      !status.error().message.ends_with("ended by rank 2: the loss is not finite"))
    rank.fail(status ? "no error" : status.error().message);
}

// Collectives until something goes wrong; what, is printed for the test to read.
void endless(Rank &rank) {
  Communicator &comm = *rank.communicators[0];
  auto *x = rank.arena<float>();
  for (;;)
    if (Status status = comm.allReduce(x, x, 20000, ElementType::F32, Reduction::Sum, deadlineIn(3)); !status)
      return rank.fail(status.error().message);
}

// Rank 1 meets the others in the host's world and then does not make its end.
void absentAtInit(Rank &rank) {
  Group group{0, "dp", {0, 1, 2}};
  if (rank.world.rank() == 1) {
    auto meeting = rank.nccl->meeting().communicator(group, deadlineIn(patience));
    std::vector<int64_t> id(sizeof(nccl::UniqueId) / 8);
    rank.check((*meeting)->broadcast(id.data(), 2 * id.size(), ElementType::I32, 0, deadlineIn(patience)));
    std::this_thread::sleep_for(std::chrono::seconds(1));
    return;
  }
  auto made = rank.world.communicator(group, deadlineIn(0.5));
  expectError(rank, made ? Status() : Status(made.error()), ErrorKind::Timeout,
              "communicator 0 \"dp\" of ranks 0, 1, 2: not all members came by the deadline");
}

} // namespace

void addNcclScenarios(std::map<std::string, Scenario> &all) {
  std::vector<Group> pair{{0, "tp", {0, 1}}}, three{{0, "dp", {0, 1, 2}}};
  all["nccl-cluster"] = {8, clusterGroups(), manyAtOnce};
  all["nccl-three"] = {
      3, {{0, "all", {0, 1, 2}}, {1, "edge", {2, 0}}, {2, "pair", {1, 2}}, {3, "edge", {0, 2}}}, manyAtOnce};
  all["nccl-cluster-1"] = {1, {{0, "tp", {0}}, {1, "dp", {0}}, {2, "all", {0}}}, manyAtOnce};
  all["nccl-cluster-2"] = {
      2,
      {{0, "all", {0, 1}}, {1, "edge", {0, 1}}, {2, "edge", {1, 0}}, {3, "tp", {1, 0}}, {4, "alone", {1}}},
      manyAtOnce};
  all["nccl-groups-1"] = {1, {{0, "ep", {0}}}, groups};
  all["nccl-groups-2"] = {2, {{0, "ep", {1, 0}}}, groups};
  all["nccl-graph-1"] = {1, {{0, "cp", {0}}}, captured};
  all["nccl-graph-2"] = {2, {{0, "cp", {1, 0}}}, captured};
  all["nccl-groups"] = {4, {{0, "ep", {3, 0, 1, 2}}}, groups};
  all["nccl-ring"] = {3, {{0, "cp", {0, 1, 2}}}, ringWithoutGroup};
  all["nccl-residency"] = {2, {{0, "tp", {0, 1}}, {1, "dp", {0, 1}}}, residency};
  all["nccl-counts"] = {3, three, mismatchedCounts};
  all["nccl-types"] = {2, pair, mismatchedTypes};
  all["nccl-order"] = {2, pair, mismatchedOrder};
  all["nccl-message-or-collective"] = {2, pair, messageAgainstCollective};
  all["nccl-message"] = {2, {{0, "pp 0->1", {0, 1}}}, mismatchedMessage};
  all["nccl-bad-arguments"] = {2, {{0, "dp", {1, 0}}}, badArguments};
  all["nccl-same-memory"] = {2, {{0, "dp", {1, 0}}}, sameMemoryInAGroup};
  all["nccl-aborted"] = {3, three, aborted};
  all["nccl-endless"] = {3, three, endless};
  all["nccl-absent-at-init"] = {3, three, absentAtInit, 4 << 20, false};
}

} // namespace hocket::test
