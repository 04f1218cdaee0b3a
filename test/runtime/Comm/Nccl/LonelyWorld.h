// One rank without the others, for tests over the fake NCCL: what it says to them as a host does nothing.
#ifndef HOCKET_TEST_RUNTIME_COMM_NCCL_LONELYWORLD_H
#define HOCKET_TEST_RUNTIME_COMM_NCCL_LONELYWORLD_H

#include "runtime/Comm/Communicator.h"
#include <algorithm>
#include <optional>

namespace hocket::test {
using namespace runtime;

struct LonelyCommunicator : Communicator {
  LonelyCommunicator(const Group &group, int self) : Communicator(group, self) {}
  Status allReduce(const void *, void *, size_t, ElementType, Reduction, When) override { return {}; }
  Status reduceScatter(const void *, void *, size_t, ElementType, Reduction, When) override { return {}; }
  Status allGather(const void *, void *, size_t, ElementType, When) override { return {}; }
  Status allToAll(const void *, void *, size_t, ElementType, When) override { return {}; }
  // Every group has a unique id of its own, which begins with 40 + its number.
  Status broadcast(void *buffer, size_t, ElementType, int, When) override {
    return static_cast<char *>(buffer)[0] = static_cast<char>(40 + group().id), Status();
  }
  Status barrier(When) override { return {}; }
  Result<std::unique_ptr<Request>> send(const void *, size_t, ElementType, int, void *) override { return Error{}; }
  Result<std::unique_ptr<Request>> receive(void *, size_t, ElementType, int, void *) override { return Error{}; }
};

struct LonelyWorld : World {
  explicit LonelyWorld(int rank = 1, int size = 3) : number(rank), ranks(size) {}
  int rank() const override { return number; }
  int size() const override { return ranks; }
  std::span<std::byte> arena() override { return {}; }
  Result<std::unique_ptr<Communicator>> communicator(const Group &group, Deadline) override {
    made.push_back(group);
    auto self = std::find(group.ranks.begin(), group.ranks.end(), number) - group.ranks.begin();
    return std::unique_ptr<Communicator>(std::make_unique<LonelyCommunicator>(group, static_cast<int>(self)));
  }
  Status waitForMessages(Deadline) override { return aborted ? Status(*aborted) : Status(); }
  void abort(std::string_view message) override { aborted = Error{ErrorKind::Aborted, std::string(message), {}}; }

  int number, ranks;
  std::vector<Group> made; // in order
  std::optional<Error> aborted;
};

} // namespace hocket::test
#endif
