// See CallReport.h.
#include "tools/hocket/CallReport.h"
#include "runtime/Launch/Counted.h"
#include "runtime/Program/Calls.h"
#include "runtime/Program/Mesh.h"
#include "tools/hocket/Report.h"
#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>
using namespace hocket;
using namespace hocket::tools;
using program::Call;

namespace {
/// A program as the runtime sees it.
struct Packed {
  flatbuffers::FlatBufferBuilder builder;
  const program::Program &program;
  explicit Packed(const program::ProgramT &from) : program(pack(from)) {}

private:
  const program::Program &pack(const program::ProgramT &from) {
    builder.Finish(program::Program::Pack(builder, &from));
    return *flatbuffers::GetRoot<program::Program>(builder.GetBufferPointer());
  }
};

struct RankCalls {
  const program::Program &program;
  program::Mesh mesh;
  uint32_t rank, stage;
  const program::RankProgram &own;

  RankCalls(const program::Program &program, uint32_t rank)
      : program(program), mesh(program), rank(rank), stage(program::stageOf(mesh, program, rank)),
        own(*program.ranks()->Get(stage)) {}

  const program::Communicator &communicator(uint32_t index) const { return *program.communicators()->Get(index); }
  std::vector<uint32_t> members(uint32_t index) const { return program::members(mesh, rank, communicator(index)); }

  /// The rank at the other end of a send or receive.
  uint32_t peer(const Call &call) const {
    std::vector<uint32_t> group = members(call.communicator);
    size_t own = static_cast<size_t>(std::find(group.begin(), group.end(), rank) - group.begin());
    return group[call.relative ? (own + call.peer) % group.size() : call.peer];
  }

  static bool exchanges(const Call &call) { return call.function >= Call::Send; }

  /// What the call is for: "F3: all_reduce h.0.attn", "dh of microbatch 3".
  std::string purpose(const program::Entry &entry, const Call &call) const {
    const program::Row &row = *entry.rows()->Get(call.row);
    if (row.kind() != program::RowKind::Body)
      return fmt::format("{}, microbatch {}", own.messages()->Get(row.index())->name()->str(), row.microbatch());
    const program::Body &body = *own.bodies()->Get(row.index());
    return fmt::format("{}{}: {}", body.name()->str(),
                       body.kind() == program::BodyKind::Begin || body.kind() == program::BodyKind::Update ||
                               body.kind() == program::BodyKind::Evaluate
                           ? ""
                           : fmt::format(", microbatch {}", row.microbatch()),
                       program.strings()->Get(body.instructions()->Get(call.instruction)->what())->str());
  }

  /// What the runtime asks its communicator for: of an exchange one thing, though several calls.
  std::string operation(const program::Entry &entry, const Call &call) const {
    const program::Row &row = *entry.rows()->Get(call.row);
    return row.kind() == program::RowKind::Body
               ? snakeCase(
                     program::EnumNameOp(own.bodies()->Get(row.index())->instructions()->Get(call.instruction)->op()))
               : snakeCase(program::EnumNameRowKind(row.kind()));
  }

  /// All but what it is for.
  std::string text(const program::Entry &entry, const Call &call) const {
    std::string name(functionName(call.function));
    if (call.function <= Call::ReduceScatter)
      name += fmt::format(" {}", snakeCase(program::EnumNameReduction(call.reduction)));
    if (exchanges(call))
      name += fmt::format(" {} rank {}", call.function == Call::Send ? "to" : "from", peer(call));
    return fmt::format("{:<24} [{}] {} {}, {} bytes, stream {}", name, call.communicator, call.count, lower(call.type),
                       call.bytes(), program::streamName(own, entry, call.stream));
  }
  static std::string lower(program::DType type) {
    std::string text = program::EnumNameDType(type);
    std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
    return text;
  }
};

/// Lines of one entry, with calls that are within one group marked.
struct CallLines {
  const RankCalls &from;
  const program::Entry &entry;
  std::vector<Call> calls;

  CallLines(const RankCalls &from, const program::Entry &entry) : from(from), entry(entry) {
    forEachCall(from.program, from.own, entry, [&](const Call &call) { calls.push_back(call); });
  }

  bool grouped(size_t i) const {
    return (i && calls[i - 1].group == calls[i].group) ||
           (i + 1 < calls.size() && calls[i + 1].group == calls[i].group);
  }

  std::string write() const {
    std::map<uint32_t, std::pair<uint64_t, uint64_t>> totals; // calls, bytes
    for (const Call &call : calls) {
      ++totals[call.communicator].first;
      totals[call.communicator].second += call.bytes();
    }
    std::string out = fmt::format("  {}: {}\n", entry.name()->str(), run::counted(calls.size(), "call"));
    for (auto &[index, total] : totals)
      out += fmt::format("    [{}] {}, ranks {}: {}, {} bytes\n", index, from.communicator(index).name()->str(),
                         fmt::join(from.members(index), " "), run::counted(total.first, "call"), total.second);
    for (size_t i = 0, next; i < calls.size(); i = next) {
      std::string text = from.text(entry, calls[i]), purpose = from.purpose(entry, calls[i]);
      for (next = i + 1; next < calls.size() && !grouped(i) && !grouped(next) &&
                         from.text(entry, calls[next]) == text && from.purpose(entry, calls[next]) == purpose;)
        ++next;
      out += fmt::format("    {:>5} {}; {}{}{}\n", i, text, purpose,
                         next - i > 1 ? fmt::format(" ({} times)", next - i) : "",
                         grouped(i) ? fmt::format(" (group {})", calls[i].group) : "");
    }
    return out;
  }

  nlohmann::ordered_json json() const {
    nlohmann::ordered_json list = nlohmann::json::array();
    for (const Call &call : calls) {
      nlohmann::ordered_json item{{"call", std::string(functionName(call.function))},
                                  {"op", from.operation(entry, call)},
                                  {"communicator", from.communicator(call.communicator).name()->str()},
                                  {"count", call.count},
                                  {"type", RankCalls::lower(call.type)},
                                  {"bytes", call.bytes()},
                                  {"stream", std::string(streamName(from.own, entry, call.stream))},
                                  {"group", call.group}};
      if (call.function <= Call::ReduceScatter)
        item["reduction"] = snakeCase(program::EnumNameReduction(call.reduction));
      if (RankCalls::exchanges(call))
        item["peer"] = from.peer(call);
      item["row"] = call.row;
      item["instruction"] = call.instruction;
      item["for"] = from.purpose(entry, call);
      list.push_back(std::move(item));
    }
    return list;
  }
};

/// The ranks to tell of: the one wanted, or the first of each stage.
std::vector<uint32_t> ranksOf(const program::Program &program, std::optional<uint32_t> wanted) {
  if (wanted)
    return {*wanted};
  program::Mesh mesh(program);
  std::vector<uint32_t> first(program.ranks()->size(), mesh.worldSize());
  for (uint32_t rank = mesh.worldSize(); rank-- > 0;)
    first[program::stageOf(mesh, program, rank)] = rank;
  return first;
}
} // namespace

std::string hocket::tools::callText(const program::ProgramT &from, std::optional<uint32_t> wanted) {
  Packed packed(from);
  std::string out;
  for (uint32_t rank : ranksOf(packed.program, wanted)) {
    RankCalls calls(packed.program, rank);
    out += fmt::format("stage {}, rank {} ({}): calls of NCCL in the order of issue\n", calls.stage, rank,
                       calls.mesh.text(rank));
    for (const program::Entry *entry : *calls.own.entries())
      out += CallLines(calls, *entry).write();
  }
  return out;
}

nlohmann::ordered_json hocket::tools::callJson(const program::ProgramT &from, std::optional<uint32_t> wanted) {
  Packed packed(from);
  nlohmann::ordered_json out;
  out["model"] = from.name;
  out["plan"] = from.plan;
  out["ranks"] = nlohmann::json::array();
  for (uint32_t rank : ranksOf(packed.program, wanted)) {
    RankCalls calls(packed.program, rank);
    nlohmann::ordered_json communicators = nlohmann::json::array(), entries;
    for (uint32_t index = 0; packed.program.communicators() && index < packed.program.communicators()->size(); ++index)
      if (auto members = calls.members(index); !members.empty())
        communicators.push_back({{"name", calls.communicator(index).name()->str()},
                                 {"kind", snakeCase(EnumNameCommunicatorKind(calls.communicator(index).kind()))},
                                 {"ranks", members}});
    for (const program::Entry *entry : *calls.own.entries())
      entries[entry->name()->str()] = CallLines(calls, *entry).json();
    out["ranks"].push_back(
        {{"rank", rank}, {"stage", calls.stage}, {"communicators", communicators}, {"calls", entries}});
  }
  return out;
}
