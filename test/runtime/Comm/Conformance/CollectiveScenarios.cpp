// Every collective on every type, with odd counts, in sub-groups, in place and not, from shared and from private
// memory, equal to the serial reference bit for bit.
#include "Conformance/Numbers.h"
#include "Conformance/Scenario.h"
#include <algorithm>
#include <fmt/format.h>
#include <limits>

using namespace hocket::runtime;
namespace hocket::test {
namespace {

// One call's place: where its buffers are.
struct Setting {
  Rank &rank;
  Communicator &comm;
  ElementType type;
  size_t count;
  bool inPlace, shared;

  std::byte *memory(size_t offset) {
    static std::vector<std::byte> privateMemory(4 << 20);
    return (shared ? rank.arena() : privateMemory.data()) + offset;
  }
  size_t bytes() const { return count * sizeBytes(type); }
  int n() const { return comm.size(); }
  int self() const { return comm.rank(); }
  When when() const { return deadlineIn(patience); }

  void compare(std::string_view call, const std::byte *got, const std::vector<std::byte> &wanted) {
    auto at = static_cast<size_t>(std::mismatch(wanted.begin(), wanted.end(), got).first - wanted.begin());
    if (at != wanted.size())
      fail(call, at / sizeBytes(type), wanted.size() / sizeBytes(type));
  }
  // With the reduction of elements from `first` on.
  void compareReduction(std::string_view call, const std::byte *got, Reduction reduction, uint64_t first) {
    if (size_t at = firstWrong(got, type, reduction, n(), first, count, rank.inOrder); at != count)
      fail(call, at, count);
  }
  void fail(std::string_view call, size_t element, size_t of) {
    rank.fail(fmt::format("{} of {} {}{}{} on {}: element {} of {} differs", call, count, toString(type),
                          inPlace ? " in place" : "", shared ? "" : " in private memory", comm.describe(), element,
                          of));
  }
};

void put(std::byte *to, const std::vector<std::byte> &from) { std::copy(from.begin(), from.end(), to); }

void append(std::vector<std::byte> &to, const std::vector<std::byte> &from) {
  to.insert(to.end(), from.begin(), from.end());
}

constexpr size_t second = 2 << 20; // offset of the buffer that is not in place

void allReduce(Setting &s, Reduction reduction) {
  std::byte *in = s.memory(0), *out = s.inPlace ? in : s.memory(second);
  put(in, values(s.type, s.self(), 0, s.count));
  s.rank.check(s.comm.allReduce(in, out, s.count, s.type, reduction, s.when()));
  s.compareReduction(fmt::format("all_reduce {}", toString(reduction)), out, reduction, 0);
}

void reduceScatter(Setting &s, Reduction reduction) {
  std::byte *in = s.memory(0), *out = s.inPlace ? in + s.self() * s.bytes() : s.memory(second);
  put(in, values(s.type, s.self(), 0, s.count * s.n()));
  s.rank.check(s.comm.reduceScatter(in, out, s.count, s.type, reduction, s.when()));
  s.compareReduction("reduce_scatter", out, reduction, s.self() * s.count);
}

void allGather(Setting &s) {
  std::byte *out = s.memory(0), *in = s.inPlace ? out + s.self() * s.bytes() : s.memory(second);
  put(in, values(s.type, s.self(), 0, s.count));
  s.rank.check(s.comm.allGather(in, out, s.count, s.type, s.when()));
  std::vector<std::byte> wanted;
  for (int r = 0; r < s.n(); ++r)
    append(wanted, values(s.type, r, 0, s.count));
  s.compare("all_gather", out, wanted);
}

void allToAll(Setting &s) {
  std::byte *in = s.memory(0), *out = s.memory(second);
  put(in, values(s.type, s.self(), 0, s.count * s.n()));
  s.rank.check(s.comm.allToAll(in, out, s.count, s.type, s.when()));
  std::vector<std::byte> wanted;
  for (int r = 0; r < s.n(); ++r)
    append(wanted, values(s.type, r, s.self() * s.count, s.count));
  s.compare("all_to_all", out, wanted);
}

void broadcast(Setting &s) {
  for (int root : {0, s.n() - 1}) {
    put(s.memory(0), values(s.type, s.self(), root, s.count));
    s.rank.check(s.comm.broadcast(s.memory(0), s.count, s.type, root, s.when()));
    s.compare("broadcast", s.memory(0), values(s.type, root, root, s.count));
  }
}

void every(Rank &rank) {
  for (auto &comm : rank.communicators) {
    if (!comm)
      continue;
    for (ElementType type : allTypes)
      for (size_t count : {0, 1, 3, 65, 1023, 5003})
        for (bool inPlace : {false, true})
          for (bool shared : {true, false}) {
            if (!shared && !rank.anyMemory)
              continue;
            Setting setting{rank, *comm, type, count, inPlace, shared};
            for (Reduction reduction : {Reduction::Sum, Reduction::Max, Reduction::Min})
              allReduce(setting, reduction);
            reduceScatter(setting, inPlace ? Reduction::Sum : Reduction::Max);
            allGather(setting);
            allToAll(setting);
            broadcast(setting);
          }
    rank.check(comm->barrier(deadlineIn(patience)));
  }
}

// Large enough for many chunks, and for many pieces of a bounce buffer; members in one communicator differ in memory.
void large(Rank &rank) {
  Communicator &comm = *rank.communicators[0];
  for (bool mixed : {false, true}) {
    if (mixed && !rank.anyMemory)
      continue;
    Setting setting{rank, comm, ElementType::F32, 60001, false, !mixed || comm.rank() != 1};
    allReduce(setting, Reduction::Sum);
    reduceScatter(setting, Reduction::Sum);
    allGather(setting);
    allToAll(setting);
    broadcast(setting);
  }
}

// A NaN of any member is the result of a max, a min and a sum.
void notANumber(Rank &rank) {
  Communicator &comm = *rank.communicators[0];
  auto *x = rank.arena<float>();
  for (Reduction reduction : {Reduction::Sum, Reduction::Max, Reduction::Min}) {
    if (reduction != Reduction::Sum && !rank.inOrder)
      continue;
    for (int i = 0; i < comm.size(); ++i)
      x[i] = i == comm.rank() ? std::numeric_limits<float>::quiet_NaN() : 1.0f;
    x[comm.size()] = 2.0f;
    rank.check(comm.allReduce(x, x, comm.size() + 1, ElementType::F32, reduction, deadlineIn(patience)));
    for (int i = 0; i < comm.size(); ++i)
      if (x[i] == x[i])
        rank.fail(fmt::format("{} lost the NaN of member {}", toString(reduction), i));
    if (x[comm.size()] != (reduction == Reduction::Sum ? 2.0f * static_cast<float>(comm.size()) : 2.0f))
      rank.fail("a NaN spread to another element");
  }
}

} // namespace

void addCollectiveScenarios(std::map<std::string, Scenario> &all) {
  all["collectives"] = {8,
                        {{0, "world", {0, 1, 2, 3, 4, 5, 6, 7}},
                         {1, "even", {0, 2, 4, 6}},
                         {2, "odd", {5, 3, 1}},
                         {3, "pair", {6, 1}},
                         {4, "alone", {3}}},
                        every};
  all["collectives-1"] = {1, {{0, "world", {0}}}, every};
  all["collectives-2"] = {2, {{0, "world", {1, 0}}, {1, "alone", {0}}}, every};
  all["collectives-4"] = {4, {{0, "world", {0, 1, 2, 3}}, {1, "even", {2, 0}}, {2, "odd", {3, 1}}}, every};
  all["large"] = {3, {{0, "world", {2, 0, 1}}}, large};
  all["not-a-number"] = {4, {{0, "world", {0, 1, 2, 3}}}, notANumber};
}

} // namespace hocket::test
