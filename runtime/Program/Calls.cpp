// See Calls.h.
#include "runtime/Program/Calls.h"
#include "runtime/Program/CallGroups.h"
#include "runtime/Program/Check.h"
#include "runtime/Program/IssueOrder.h"
#include "runtime/Program/OpKinds.h"

namespace hocket::program {

uint64_t Call::bytes() const { return count * sizeOf(type); }

std::string_view functionName(Call::Function function) {
  constexpr std::string_view names[] = {"ncclAllReduce", "ncclReduceScatter", "ncclAllGather", "ncclSend", "ncclRecv"};
  return names[function];
}

DType messageType(const Message &message) { return message.buffer()->bytes() % 4 == 0 ? DType::F32 : DType::BF16; }

std::string_view streamName(const RankProgram &rank, const Entry &entry, uint32_t stream) {
  uint32_t own = entry.streams()->size();
  return stream < own ? entry.streams()->Get(stream)->string_view()
                      : rank.bodyStreams()->Get(stream - own)->string_view();
}

namespace {
struct CallWalk {
  const Program &program;
  const RankProgram &rank;
  const Entry &entry;
  const std::function<void(const Call &)> &see;
  uint32_t groups = 0;

  void message(uint32_t index, const Row &row) {
    const Message &message = *rank.messages()->Get(row.index());
    bool sends = row.kind() == RowKind::Send;
    DType type = messageType(message);
    see({sends ? Call::Send : Call::Receive, message.communicator(), message.buffer()->bytes() / sizeOf(type), type,
         Reduction::Sum, sends ? 1u : 0u, false, row.stream(), groups++, index, 0});
  }

  void collective(const Instruction &from, Call call) {
    uint32_t members = memberCount(program, *program.communicators()->Get(from.communicator()), rank.stage());
    auto give = [&](Call::Function function, uint64_t bytes) {
      call.function = function;
      call.count = bytes / sizeOf(call.type);
      see(call);
    };
    uint64_t in = from.buffers()->Get(0)->bytes();
    auto exchange = [&](uint32_t to, uint32_t with, uint64_t bytes) {
      call.peer = to;
      give(Call::Send, bytes);
      call.peer = with;
      give(Call::Receive, bytes);
    };
    call.relative = from.op() == Op::Shift;
    switch (from.op()) {
    case Op::AllReduce:
      return give(Call::AllReduce, in);
    case Op::ReduceScatter:
      return give(Call::ReduceScatter, in / members);
    case Op::AllGather:
      return give(Call::AllGather, in);
    case Op::Shift:
      return exchange(1 % members, members - 1, in);
    default:
      for (uint32_t peer = 0; peer < members; ++peer)
        exchange(peer, peer, in / members);
    }
  }

  void body(uint32_t index, const Row &row) {
    const Body &of = *rank.bodies()->Get(row.index());
    const auto &instructions = *of.instructions();
    for (uint32_t i = 0, end; i < instructions.size(); i = end) {
      end = endOfGroup(program, of, i);
      if (!isCollective(instructions.Get(i)->op()))
        continue;
      for (uint32_t each = i; each < end; ++each) {
        const Instruction &from = *instructions.Get(each);
        uint32_t stream = from.stream() ? entry.streams()->size() + from.stream() - 1 : 0;
        collective(from, {Call::AllReduce, from.communicator(), 0, from.type(), from.reduction(), 0, false, stream,
                          groups, index, each});
      }
      ++groups;
    }
  }
};
} // namespace

void forEachCall(const Program &program, const RankProgram &rank, const Entry &entry,
                 const std::function<void(const Call &)> &see) {
  CallWalk walk{program, rank, entry, see};
  for (uint32_t index : issueOrder(entry)) {
    const Row &row = *entry.rows()->Get(index);
    row.kind() == RowKind::Body ? walk.body(index, row) : walk.message(index, row);
  }
}

} // namespace hocket::program
