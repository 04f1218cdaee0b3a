// Messages: both directions at once, more of them than a channel holds, waited for in any order, from shared and
// private memory, in posted order; a send completes when it is received and not before.
#include "Conformance/Numbers.h"
#include "Conformance/Scenario.h"
#include <cstring>
#include <fmt/format.h>
#include <thread>

using namespace hocket::runtime;
namespace hocket::test {
namespace {

using Requests = std::vector<std::unique_ptr<Request>>;

void post(Rank &rank, Requests &requests, Result<std::unique_ptr<Request>> request) {
  if (request)
    requests.push_back(std::move(*request));
  else
    rank.fail(request.error().message);
}

void waitAll(Rank &rank, Requests &requests) {
  for (auto &request : requests)
    rank.check(request->wait(deadlineIn(patience)));
}

// Each rank sends `messages` to the next and receives as many from the one before, all posted before any is waited for.
void ring(Rank &rank, bool sendShared, bool receiveShared) {
  constexpr size_t messages = 75, most = 3000, slot = most * 8;
  Communicator &comm = *rank.communicators[0];
  int next = (comm.rank() + 1) % comm.size(), before = (comm.rank() + comm.size() - 1) % comm.size();
  std::vector<std::byte> privateMemory(2 * messages * slot);
  auto place = [&](bool shared, size_t i) { return (shared ? rank.arena() : privateMemory.data()) + i * slot; };
  auto type = [](size_t i) { return allTypes[i % std::size(allTypes)]; };
  auto count = [](size_t i) { return i * 977 % most; }; // 0 among them
  Requests sends, receives;
  for (size_t i = 0; i < messages; ++i) {
    auto data = values(type(i), comm.rank(), i, count(i));
    if (!data.empty())
      std::memcpy(place(sendShared, i), data.data(), data.size());
    post(rank, sends, comm.send(place(sendShared, i), count(i), type(i), next));
    post(rank, receives, comm.receive(place(receiveShared, messages + i), count(i), type(i), before));
  }
  waitAll(rank, sends); // before the receives: they must make progress meanwhile
  std::reverse(receives.begin(), receives.end());
  waitAll(rank, receives);
  for (size_t i = 0; i < messages; ++i) {
    auto wanted = values(type(i), before, i, count(i));
    if (!wanted.empty() && std::memcmp(place(receiveShared, messages + i), wanted.data(), wanted.size()) != 0)
      rank.fail(fmt::format("message {} arrived wrong ({}{})", i, sendShared ? "" : "sent from private memory ",
                            receiveShared ? "" : "received into private memory"));
  }
}

void rings(Rank &rank) {
  for (bool sendShared : {true, false})
    for (bool receiveShared : {true, false})
      ring(rank, sendShared, receiveShared);
  // One rank's private memory against another's shared memory.
  ring(rank, rank.world.rank() % 2 == 0, rank.world.rank() % 3 == 0);
}

// A send is not complete while nobody has received it; the receiver finds the data as it was. The barrier is another
// communicator's: on one, NCCL keeps the order of all calls.
void rendezvous(Rank &rank) {
  Communicator &comm = *rank.communicators[0], &both = *rank.communicators[1];
  auto *x = rank.arena<int32_t>();
  if (comm.rank() == 0) {
    x[0] = 42;
    auto request = comm.send(x, 1, ElementType::I32, 1);
    if (!request)
      return rank.fail(request.error().message);
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    Result<bool> early = (*request)->test();
    if (!early || *early)
      rank.fail("a send that nobody received is complete");
    if ((*request)->wait(deadlineIn(0.05)))
      rank.fail("a wait for a send that nobody receives succeeded");
    rank.check(both.barrier(deadlineIn(patience)));
    rank.check((*request)->wait(deadlineIn(patience)));
  } else {
    rank.check(both.barrier(deadlineIn(patience)));
    auto request = comm.receive(x, 1, ElementType::I32, 0);
    if (!request)
      return rank.fail(request.error().message);
    rank.check((*request)->wait(deadlineIn(patience)));
    if (x[0] != 42)
      rank.fail("the wrong number arrived");
  }
}

// A rank that waits in a collective still moves its messages, even from private memory to private memory.
void behindACollective(Rank &rank) {
  Communicator &comm = *rank.communicators[0];
  std::vector<float> privateMemory(50000);
  std::span<float> data(rank.anyMemory ? privateMemory.data() : rank.arena<float>(), privateMemory.size());
  std::ranges::fill(data, static_cast<float>(comm.rank() + 1));
  if (comm.rank() == 0) {
    auto request = comm.send(data.data(), data.size(), ElementType::F32, 1);
    rank.check(comm.barrier(deadlineIn(patience)));
    rank.check((*request)->wait(deadlineIn(patience)));
  } else {
    auto request = comm.receive(data.data(), data.size(), ElementType::F32, 0);
    rank.check((*request)->wait(deadlineIn(patience)));
    rank.check(comm.barrier(deadlineIn(patience)));
    if (data.front() != 1 || data.back() != 1)
      rank.fail("the wrong data arrived");
  }
}

// Two threads of each rank, each with a communicator of its own, over shared and private memory.
void threads(Rank &rank) {
  std::vector<std::string> faults[2];
  auto work = [&](int index) {
    Communicator &comm = *rank.communicators[index];
    int peer = 1 - comm.rank();
    std::vector<float> privateMemory(20000);
    auto *x = index == 0 ? rank.arena<float>() : privateMemory.data();
    for (int round = 0; round < 100; ++round) {
      size_t count = static_cast<size_t>(round) * 90 + 1;
      std::fill_n(x, count, static_cast<float>(comm.rank() + round));
      auto send = comm.send(x, count, ElementType::F32, peer);
      auto receive = comm.receive(x + 10000, count, ElementType::F32, peer);
      if (!(*send)->wait(deadlineIn(patience)) || !(*receive)->wait(deadlineIn(patience)) ||
          !comm.allReduce(x, x, count, ElementType::F32, Reduction::Sum, deadlineIn(patience)))
        return faults[index].push_back("a call failed");
      auto theirs = static_cast<float>(peer + round), both = static_cast<float>(1 + 2 * round);
      if (x[0] != both || x[count - 1] != both || x[10000] != theirs || x[9999 + count] != theirs)
        faults[index].push_back(fmt::format("wrong numbers in round {} of thread {}", round, index));
    }
  };
  std::thread other(work, 1);
  work(0);
  other.join();
  for (auto &list : faults)
    for (auto &fault : list)
      rank.fail(fault);
}

// Steps around a ring, from shared and private memory; after as many as there are members everything is home again.
void shifts(Rank &rank) {
  Communicator &comm = *rank.communicators[0];
  for (bool shared : {true, !rank.anyMemory})
    for (size_t count : {size_t(0), size_t(1), size_t(977), size_t(40000)}) {
      std::vector<float> memory(2 * count);
      float *x = shared ? rank.arena<float>() : memory.data(), *y = x + count;
      std::fill_n(x, count, static_cast<float>(comm.rank()));
      for (int step = 1; step <= comm.size(); ++step) {
        rank.check(shift(comm, x, y, count, ElementType::F32, deadlineIn(patience)));
        std::swap(x, y);
        auto from = static_cast<float>((comm.rank() + comm.size() - step) % comm.size());
        if (count && (x[0] != from || x[count - 1] != from))
          rank.fail(fmt::format("step {} of {} elements brought that of member {}, not {}", step, count, x[0], from));
      }
    }
}

} // namespace

void addMessageScenarios(std::map<std::string, Scenario> &all) {
  all["rings"] = {5, {{0, "ring", {4, 1, 0, 2, 3}}}, rings};
  all["shifts"] = {4, {{0, "cp", {2, 0, 3, 1}}}, shifts};
  all["shift-alone"] = {1, {{0, "cp", {0}}}, shifts};
  all["two-way"] = {2, {{0, "pair", {0, 1}}}, rings};
  all["rendezvous"] = {2, {{0, "pp 0->1", {0, 1}}, {1, "dp", {0, 1}}}, rendezvous};
  all["threads"] = {2, {{0, "dp", {0, 1}}, {1, "tp", {1, 0}}}, threads};
  all["behind-a-collective"] = {2, {{0, "pair", {0, 1}}}, behindACollective};
}

} // namespace hocket::test
