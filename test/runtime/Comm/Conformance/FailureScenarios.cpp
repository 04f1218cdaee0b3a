// What goes wrong between ranks ends in an error on each of them: it names the ranks and both values, in time.
#include "Conformance/Scenario.h"
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <thread>

using namespace hocket::runtime;
namespace hocket::test {
namespace {

void expectError(Rank &rank, const Status &status, ErrorKind kind, std::vector<int> ranks, std::string_view message) {
  if (status)
    return rank.fail(fmt::format("no error; expected: {}", message));
  const Error &error = status.error();
  if (error.kind != kind || error.ranks != ranks || error.message != message)
    rank.fail(fmt::format("got: {} (about {}); expected: {}", error.message, fmt::join(error.ranks, ", "), message));
}

// One rank calls something else.
void mismatchedCollective(Rank &rank) {
  if (!rank.communicators[0])
    return;
  Communicator &comm = *rank.communicators[0];
  bool odd = rank.world.rank() == 3;
  auto *x = rank.arena<float>();
  auto call = [&] { return comm.allReduce(x, x, odd ? 7 : 8, ElementType::F32, Reduction::Sum, deadlineIn(patience)); };
  const char *message = "communicator 0 \"dp\" of ranks 0, 1, 3: rank 0 calls all_reduce sum of 8 f32, rank 3 calls "
                        "all_reduce sum of 7 f32";
  expectError(rank, call(), ErrorKind::Mismatch, {0, 3}, message);
  expectError(rank, call(), ErrorKind::Mismatch, {0, 3}, message); // a failed communicator stays so
}

void mismatchedOperation(Rank &rank) {
  Communicator &comm = *rank.communicators[0];
  auto *x = rank.arena<float>();
  Status status = rank.world.rank() == 0
                      ? comm.broadcast(x, 1000, ElementType::F32, 1, deadlineIn(patience))
                      : comm.allReduce(x, x, 1000, ElementType::BF16, Reduction::Max, deadlineIn(patience));
  expectError(rank, status, ErrorKind::Mismatch, {0, 1},
              "communicator 0 \"tp\" of ranks 0, 1: rank 0 calls broadcast of 1000 f32 from member 1, rank 1 calls "
              "all_reduce max of 1000 bf16");
}

void mismatchedMessage(Rank &rank) {
  Communicator &comm = *rank.communicators[0];
  auto *x = rank.arena<float>();
  bool sends = rank.world.rank() == 0;
  for (int i = 0; i < 2; ++i) {
    size_t count = i == 1 && !sends ? 64 : 128;
    auto request = sends ? comm.send(x, count, ElementType::F32, 1) : comm.receive(x, count, ElementType::F32, 0);
    if (!request)
      return rank.fail(request.error().message);
    Status status = (*request)->wait(deadlineIn(patience));
    if (i == 0)
      rank.check(status);
    else
      expectError(rank, status, ErrorKind::Mismatch, {sends ? 1 : 0},
                  "message 1 from rank 0 to rank 1 on communicator 0 \"pp 0->1\" of ranks 0, 1: 128 f32 sent, 64 f32 "
                  "received");
  }
}

// Faults that a member can see alone leave the communicator usable.
void badArguments(Rank &rank) {
  Communicator &comm = *rank.communicators[0];
  auto *x = rank.arena<float>();
  When when = deadlineIn(patience);
  expectError(rank, comm.broadcast(x, 1, ElementType::F32, 2, when), ErrorKind::Invalid, {},
              "broadcast from member 2 on communicator 0 \"dp\" of ranks 1, 0; members are 0 to 1");
  expectError(rank, comm.allToAll(x, x + 1, 4, ElementType::F32, when), ErrorKind::Invalid, {},
              "all_to_all of 4 f32 on communicator 0 \"dp\" of ranks 1, 0: input and output overlap");
  auto request = comm.send(x, 1, ElementType::F32, -1);
  expectError(rank, request ? Status() : request.error(), ErrorKind::Invalid, {},
              "message to member -1 on communicator 0 \"dp\" of ranks 1, 0; members are 0 to 1");
  rank.check(comm.barrier(when));
}

// Rank 1 stays away from a collective and from a message.
void absent(Rank &rank) {
  if (rank.world.rank() == 1)
    return static_cast<void>(rank.communicators[1]->barrier(deadlineIn(patience)));
  auto *x = rank.arena<float>();
  if (rank.world.rank() == 0) {
    auto request = rank.communicators[2]->send(x, 3, ElementType::F32, 1);
    expectError(
        rank, (*request)->wait(deadlineIn(0.2)), ErrorKind::Timeout, {1},
        "message 0 from rank 0 to rank 1 on communicator 2 \"pp 0->1\" of ranks 0, 1: time is up; rank 1 has not "
        "received it");
  }
  expectError(rank, rank.communicators[0]->allGather(x, x + 100, 3, ElementType::F32, deadlineIn(0.5)),
              ErrorKind::Timeout, {1},
              "all_gather of 3 f32 on communicator 0 \"dp\" of ranks 0, 1, 2: time is up; missing: rank 1");
  rank.check(rank.communicators[1]->barrier(deadlineIn(patience)));
}

// Collectives until something goes wrong; what, is printed for the test to read.
void endless(Rank &rank) {
  Communicator &comm = *rank.communicators[0];
  auto *x = rank.arena<float>();
  for (;;) {
    Status status = comm.allReduce(x, x, 200000, ElementType::F32, Reduction::Sum, deadlineIn(3));
    if (!status)
      return rank.fail(status.error().message);
  }
}

// Rank 2 gives up; everyone else's wait, with all the time in the world, ends.
void abortedByRank(Rank &rank) {
  Communicator &comm = *rank.communicators[0];
  if (rank.world.rank() == 2) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    return rank.world.abort("the loss is not finite");
  }
  if (rank.world.rank() == 1) {
    auto request = comm.receive(rank.arena(), 1, ElementType::F32, 2);
    expectError(rank, (*request)->wait(deadlineIn(patience)), ErrorKind::Aborted, {2},
                "ended by rank 2: the loss is not finite");
    return;
  }
  // Rank 1 never comes, and is named beside the rank that ended the run.
  expectError(rank, comm.barrier(deadlineIn(patience)), ErrorKind::Aborted, {2, 1},
              "barrier on communicator 0 \"world\" of ranks 0, 1, 2, 3: ended by rank 2: the loss is not finite");
}

} // namespace

void addFailureScenarios(std::map<std::string, Scenario> &all) {
  all["mismatched-collective"] = {4, {{0, "dp", {0, 1, 3}}}, mismatchedCollective};
  all["mismatched-operation"] = {2, {{0, "tp", {0, 1}}}, mismatchedOperation};
  all["mismatched-message"] = {2, {{0, "pp 0->1", {0, 1}}}, mismatchedMessage};
  all["bad-arguments"] = {2, {{0, "dp", {1, 0}}}, badArguments};
  all["absent"] = {3, {{0, "dp", {0, 1, 2}}, {1, "world", {0, 1, 2}}, {2, "pp 0->1", {0, 1}}}, absent};
  all["endless"] = {4, {{0, "world", {0, 1, 2, 3}}}, endless};
  all["aborted"] = {4, {{0, "world", {0, 1, 2, 3}}}, abortedByRank};
}

} // namespace hocket::test
