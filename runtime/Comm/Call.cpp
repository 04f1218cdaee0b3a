// See Call.h.
#include "runtime/Comm/Call.h"
#include "runtime/Comm/Reduce.h"
#include <cstring>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace hocket::runtime {
namespace {

std::string_view toString(Operation operation) {
  constexpr std::string_view names[] = {"barrier",    "all_reduce", "reduce_scatter",
                                        "all_gather", "all_to_all", "broadcast"};
  return names[static_cast<int>(operation)];
}

// Whether [a, a + aBytes) and [b, b + bBytes) share a byte.
bool overlap(const std::byte *a, size_t aBytes, const std::byte *b, size_t bBytes) {
  return aBytes && bBytes && a < b + bBytes && b < a + aBytes;
}

} // namespace

void copyBytes(std::byte *to, const std::byte *from, size_t bytes) {
  if (bytes && to != from)
    std::memcpy(to, from, bytes);
}

std::string describe(const Call &call) {
  if (call.operation == Operation::Barrier)
    return "barrier";
  std::string text(toString(call.operation));
  if (call.operation == Operation::AllReduce || call.operation == Operation::ReduceScatter)
    text += fmt::format(" {}", toString(call.reduction));
  text += fmt::format(" of {} {}", call.count, toString(call.type));
  if (call.operation == Operation::Broadcast)
    text += fmt::format(" from member {}", call.root);
  return text;
}

Status checkCall(const Communicator &on, const Call &call, const void *in, const void *out) {
  if (call.operation == Operation::Broadcast && (call.root < 0 || call.root >= on.size()))
    return Error{
        ErrorKind::Invalid,
        fmt::format("broadcast from member {} on {}; members are 0 to {}", call.root, on.describe(), on.size() - 1),
        {}};
  size_t block = call.blockBytes(), own = block * static_cast<size_t>(on.rank());
  bool joins = call.operation == Operation::AllGather || call.operation == Operation::AllToAll;
  auto *input = static_cast<const std::byte *>(in), *output = static_cast<const std::byte *>(out);
  bool inPlace = call.operation == Operation::AllReduce       ? input == output
                 : call.operation == Operation::ReduceScatter ? output == input + own
                 : call.operation == Operation::AllGather     ? input == output + own
                                                              : call.operation != Operation::AllToAll;
  size_t outputBytes = joins ? block * static_cast<size_t>(on.size()) : block;
  if (!inPlace && overlap(input, call.inputBlocks(on.size()) * block, output, outputBytes))
    return Error{
        ErrorKind::Invalid, fmt::format("{} on {}: input and output overlap", describe(call), on.describe()), {}};
  return {};
}

Status checkPeer(const Communicator &on, int peer, bool sends) {
  if (peer >= 0 && peer < on.size())
    return {};
  return Error{ErrorKind::Invalid,
               fmt::format("message {} member {} on {}; members are 0 to {}", sends ? "to" : "from", peer,
                           on.describe(), on.size() - 1),
               {}};
}

Status agree(const Communicator &on, const std::vector<Call> &calls) {
  for (size_t r = 1; r < calls.size(); ++r) {
    if (calls[r] == calls[0])
      continue;
    int a = on.group().ranks[0], b = on.group().ranks[r];
    return Error{ErrorKind::Mismatch,
                 fmt::format("{}: rank {} calls {}, rank {} calls {}", on.describe(), a, describe(calls[0]), b,
                             describe(calls[r])),
                 {a, b}};
  }
  return {};
}

Error timeIsUp(const Communicator &on, const Call &call, std::vector<int> missing) {
  std::string message = fmt::format("{} on {}: time is up; missing: rank{} {}", describe(call), on.describe(),
                                    missing.size() == 1 ? "" : "s", fmt::join(missing, ", "));
  return {ErrorKind::Timeout, std::move(message), std::move(missing)};
}

void combine(const Call &call, int self, const std::vector<const std::byte *> &in, std::byte *out, Piece piece) {
  size_t element = sizeBytes(call.type), bytes = piece.count * element, members = in.size();
  size_t own = piece.stride * element * static_cast<size_t>(self);
  std::byte *target = out + piece.begin * element;
  switch (call.operation) {
  case Operation::Barrier:
    return;
  case Operation::AllReduce:
    return reduceInOrder(in, {&target, 1}, piece.count, call.type, call.reduction);
  case Operation::ReduceScatter: {
    std::vector<const std::byte *> blocks;
    for (const std::byte *input : in)
      blocks.push_back(input + own);
    return reduceInOrder(blocks, {&target, 1}, piece.count, call.type, call.reduction);
  }
  case Operation::AllGather:
    for (size_t r = 0; r < members; ++r)
      copyBytes(target + call.blockBytes() * r, in[r], bytes);
    return;
  case Operation::AllToAll:
    for (size_t r = 0; r < members; ++r)
      copyBytes(target + call.blockBytes() * r, in[r] + own, bytes);
    return;
  case Operation::Broadcast:
    if (self != call.root)
      copyBytes(target, in[static_cast<size_t>(call.root)], bytes);
    return;
  }
}

} // namespace hocket::runtime
