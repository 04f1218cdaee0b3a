// Collects the report.
#include "tools/hocket/Report.h"
#include "runtime/Program/Mesh.h"
#include "runtime/Program/OpKinds.h"
#include "llvm/Support/MathExtras.h"
#include <fmt/format.h>
#include <fmt/ranges.h>
using namespace hocket;
using namespace hocket::tools;

std::string hocket::tools::bytesText(uint64_t bytes) {
  static const char *units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  double value = bytes;
  int unit = 0;
  for (; value >= 1024 && unit < 4; ++unit)
    value /= 1024;
  return unit ? fmt::format("{:.2f} {}", value, units[unit]) : fmt::format("{} B", bytes);
}

std::string hocket::tools::snakeCase(const char *name) { // AllReduce -> all_reduce
  std::string text;
  for (const char *c = name; *c; ++c)
    text += std::isupper(*c) ? (text.empty() ? "" : "_") + std::string(1, std::tolower(*c)) : std::string(1, *c);
  return text;
}

namespace {
/// `{"dp", "tp":(1)2}` as `dp tp:(1)2`.
std::string bareAxes(const std::string &name) {
  std::string text;
  for (char c : name)
    if (c != '{' && c != '}' && c != '"' && c != ',')
      text += c;
  return text;
}

struct Reporter {
  const program::ProgramT &program;
  program::Mesh mesh;
  Report report;

  std::optional<uint32_t> wanted;

  Reporter(const program::ProgramT &program, std::optional<uint32_t> wanted)
      : program(program), mesh(axesOf(program)), wanted(wanted) {}
  uint32_t stageOf(uint32_t rank) const {
    return program.stageAxis < 0 ? 0 : mesh.coordinates(rank)[program.stageAxis];
  }
  static std::vector<program::Mesh::Axis> axesOf(const program::ProgramT &program) {
    std::vector<program::Mesh::Axis> axes;
    for (auto &axis : program.axes)
      axes.push_back({axis->name, axis->size});
    return axes;
  }
  /// The first rank of a stage, or the one that was asked for.
  uint32_t firstRank(uint32_t stage) const {
    if (wanted)
      return *wanted;
    for (uint32_t rank = 0; program.stageAxis >= 0 && rank < mesh.worldSize(); ++rank)
      if (mesh.coordinates(rank)[program.stageAxis] == stage)
        return rank;
    return 0;
  }
  const std::string &string(uint32_t index) const { return program.strings[index]; }
  static const program::EntryT &train(const program::RankProgramT &rank) {
    for (auto &entry : rank.entries)
      if (entry->name == "train")
        return *entry;
    return *rank.entries.front();
  }

  std::vector<uint32_t> members(uint32_t communicator, uint32_t rank) const {
    flatbuffers::FlatBufferBuilder builder;
    builder.Finish(program::CreateCommunicator(builder, program.communicators[communicator].get()));
    return program::members(mesh, rank, *flatbuffers::GetRoot<program::Communicator>(builder.GetBufferPointer()));
  }
  /// A stream's communicator is named after its axes and the stream: `"dp" on gradients`.
  std::string axesOf(uint32_t communicator) const {
    const std::string &name = program.communicators[communicator]->name;
    return bareAxes(name.substr(0, name.find(" on ")));
  }
  static uint64_t sentOf(program::Op op, uint64_t bytes, uint64_t n) {
    if (op == program::Op::Shift)
      return n > 1 ? bytes : 0;
    return (op == program::Op::AllReduce ? 2 : 1) * bytes * (n - 1) / n;
  }
  static const char *factorOf(program::Op op) {
    return op == program::Op::AllReduce ? "2(n-1)/n" : op == program::Op::Shift ? "1" : "(n-1)/n";
  }

  /// Its body's name; of what `recompute` sends again, which it says in its cause, recompute.
  static std::string phaseOf(program::BodyKind kind, const std::string &cause) {
    bool again = cause.find(" makes it again: ") != std::string::npos;
    return again ? "recompute" : snakeCase(program::EnumNameBodyKind(kind));
  }

  static bool inHost(program::Space space) {
    return space == program::Space::Host || space == program::Space::HostSlot;
  }
  /// Between the device and its host.
  void addTransfer(const program::RankProgramT &rank, const program::BodyT &body, const program::InstructionT &each,
                   uint64_t count) {
    bool out = inHost(each.buffers[1].space());
    report.transfers.push_back({rank.stage, phaseOf(body.kind, string(each.cause)), out ? "offload" : "fetch", "host",
                                string(each.cause), string(each.path), string(each.source), each.buffers[0].bytes(), 0,
                                count, 1, "0"});
    nameStream(rank, each);
  }
  /// Of the last transfer: the stream that it runs on beside computing.
  void nameStream(const program::RankProgramT &rank, const program::InstructionT &each) {
    if (each.stream)
      report.transfers.back().stream = rank.bodyStreams[each.stream - 1];
  }

  /// Bytes in the host's memory: activations in slots, optimizer state as the state table says; the rest is parameters.
  static std::map<std::string, uint64_t> hostMemory(const program::RankProgramT &rank) {
    uint64_t slots = rank.hostSlotBytes * rank.slotCount, state = 0;
    for (auto &each : rank.state)
      if (each->buffer->space() == program::Space::Host && each->kind != program::StateKind::Parameter)
        state += llvm::alignTo(each->buffer->bytes(), 64);
    std::map<std::string, uint64_t> bytes;
    for (auto [name, size] :
         {std::pair("activation", slots), {"optimizer_state", state}, {"parameter", rank.hostBytes - slots - state}})
      if (size)
        bytes[name] = size;
    return bytes;
  }

  void addTransfers(const program::RankProgramT &rank) {
    std::map<uint32_t, uint64_t> runs;
    std::map<std::pair<program::RowKind, uint32_t>, uint64_t> messages;
    for (const program::Row &row : train(rank).rows)
      row.kind() == program::RowKind::Body ? ++runs[row.index()] : ++messages[{row.kind(), row.index()}];
    for (auto [body, count] : runs)
      for (auto &each : rank.bodies[body]->instructions) {
        if (each->op == program::Op::Transfer)
          addTransfer(rank, *rank.bodies[body], *each, count);
        if (!program::isCollective(each->op))
          continue;
        uint64_t bytes = std::max(each->buffers[0].bytes(), each->buffers[1].bytes());
        uint64_t ranks = members(each->communicator, firstRank(rank.stage)).size();
        report.transfers.push_back({rank.stage, phaseOf(rank.bodies[body]->kind, string(each->cause)),
                                    snakeCase(program::EnumNameOp(each->op)), axesOf(each->communicator),
                                    string(each->cause), string(each->path), string(each->source), bytes,
                                    sentOf(each->op, bytes, ranks), count, ranks, factorOf(each->op)});
        nameStream(rank, *each);
      }
    for (auto [key, count] : messages) {
      auto &each = rank.messages[key.second];
      bool sends = key.first == program::RowKind::Send;
      auto &edge = *program.communicators[each->communicator];
      report.transfers.push_back(
          {rank.stage, edge.from < edge.to ? "forward" : "backward", sends ? "send" : "receive", edge.name,
           edge.from < edge.to ? "the layers' activation crosses a cut between stages" : "its gradient goes back",
           each->name, string(each->source), each->buffer->bytes(), sends ? each->buffer->bytes() : 0, count, 2,
           sends ? "1" : "0"});
    }
    auto order = [](const TransferReport &t) {
      static const std::vector<std::string> phases = {"begin",       "forward",        "recompute",         "backward",
                                                      "weight_grad", "final_backward", "final_weight_grad", "update"};
      return std::find(phases.begin(), phases.end(), t.phase) - phases.begin();
    };
    std::stable_sort(report.transfers.begin(), report.transfers.end(),
                     [&](const TransferReport &a, const TransferReport &b) {
                       return std::pair(a.stage, order(a)) < std::pair(b.stage, order(b));
                     });
  }

  std::string splitText(const program::StateT &state) const {
    std::string text;
    for (size_t dim = 0; dim < state.split.size(); ++dim)
      for (const program::AxisRef &axis : state.split[dim]->axes) {
        auto &declared = program.axes[axis.axis()];
        std::string name = declared->name;
        if (axis.size() != declared->size)
          name += fmt::format(":({}){}", axis.pre(), axis.size());
        text += fmt::format("{}dim {} over {}", text.empty() ? "" : ", ", dim, name);
      }
    return text;
  }
  static std::string typeText(program::DType type) {
    std::string text = program::EnumNameDType(type);
    std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
    return text;
  }
  static std::vector<uint64_t> localShape(const program::StateT &state) {
    std::vector<uint64_t> local(state.shape);
    for (size_t dim = 0; dim < state.split.size(); ++dim)
      local[dim] = program::paddedExtent(local[dim], state.split[dim]->axes);
    return local;
  }
  std::vector<HoldingReport> holdingsOf(const program::RankProgramT &rank) const {
    std::vector<HoldingReport> holdings;
    for (auto &state : rank.state)
      if (state->kind == program::StateKind::Parameter)
        holdings.push_back(
            {state->name, state->shape, localShape(*state), {}, splitText(*state), "", typeText(state->type)});
    std::map<std::string, HoldingReport *> byName;
    for (HoldingReport &holding : holdings)
      byName[holding.name] = &holding;
    for (auto &state : rank.state) {
      auto found = byName.find(state->name);
      if (found != byName.end() && state->kind == program::StateKind::FirstMoment) {
        found->second->stateLocal = localShape(*state);
        found->second->stateSplit = splitText(*state);
        found->second->moments = typeText(state->type);
      }
      if (found != byName.end() && state->kind == program::StateKind::Master)
        found->second->master = typeText(state->type);
    }
    return holdings;
  }

  std::string orderOf(const program::RankProgramT &rank) const {
    std::string order;
    for (const program::Row &row : train(rank).rows) {
      if (row.kind() != program::RowKind::Body)
        continue;
      auto kind = rank.bodies[row.index()]->kind;
      bool backward = kind == program::BodyKind::Backward || kind == program::BodyKind::FinalBackward;
      std::string name = kind == program::BodyKind::Forward ? "F" + std::to_string(row.microbatch())
                         : backward                         ? "B" + std::to_string(row.microbatch())
                                                            : snakeCase(program::EnumNameBodyKind(kind));
      order += (order.empty() ? "" : " ") + name;
    }
    return order;
  }

  void addRank(const program::RankProgramT &rank) {
    RankReport out;
    uint32_t first = firstRank(rank.stage);
    out.coordinates = mesh.text(first);
    out.stage = rank.stage;
    out.rank = wanted;
    out.ranks = wanted ? 1 : mesh.worldSize() / program.ranks.size();
    out.layers = rank.layers;
    out.peakBytes = rank.arenaBytes;
    out.hostBytes = rank.hostBytes;
    out.hostBytesByClass = hostMemory(rank);
    for (const program::MemoryUse &use : rank.memory)
      out.bytesByClass[snakeCase(program::EnumNameMemoryClass(use.kind()))] += use.bytes();
    for (uint32_t index = 0; index < program.communicators.size(); ++index)
      if (auto list = members(index, first); !list.empty())
        out.groups.push_back({bareAxes(program.communicators[index]->name), std::move(list)});
    out.holdings = holdingsOf(rank);
    out.order = orderOf(rank);
    report.ranks.push_back(std::move(out));
  }
};
} // namespace

Report hocket::tools::makeReport(const program::ProgramT &program, std::optional<uint32_t> wanted) {
  Reporter reporter(program, wanted);
  for (auto &rank : program.ranks) {
    if (wanted && rank->stage != reporter.stageOf(*wanted))
      continue;
    reporter.addRank(*rank);
    reporter.addTransfers(*rank);
  }
  return std::move(reporter.report);
}

nlohmann::ordered_json hocket::tools::reportJson(const Report &report, const program::ProgramT &program) {
  nlohmann::ordered_json out;
  out["model"] = program.name;
  out["plan"] = program.plan;
  out["parameters"] = program.parameters;
  out["schedule"] = program.schedule;
  for (const RankReport &rank : report.ranks) {
    nlohmann::ordered_json state = nlohmann::json::array();
    for (const HoldingReport &holding : rank.holdings)
      state.push_back({{"name", holding.name},
                       {"shape", holding.shape},
                       {"local", holding.local},
                       {"split", holding.split},
                       {"type", holding.type},
                       {"compute_type", holding.compute.empty() ? holding.type : holding.compute},
                       {"accumulator_type", holding.accumulators},
                       {"master_type", holding.master},
                       {"moment_type", holding.moments},
                       {"optimizer_local", holding.stateLocal},
                       {"optimizer_split", holding.stateSplit}});
    nlohmann::ordered_json groups = nlohmann::json::array();
    for (const GroupReport &group : rank.groups)
      groups.push_back(fmt::format("{}: ranks {}", group.axes, fmt::join(group.ranks, " ")));
    out["ranks"].push_back({{"coordinates", rank.coordinates},
                            {"ranks", rank.ranks},
                            {"stage", rank.stage},
                            {"layers", rank.layers},
                            {"peak_bytes", rank.peakBytes},
                            {"library_bytes", libraryBytes},
                            {"bytes_by_class", rank.bytesByClass},
                            {"host_bytes", rank.hostBytes},
                            {"host_bytes_by_class", rank.hostBytesByClass},
                            {"groups", groups},
                            {"state", state},
                            {"order", rank.order}});
  }
  if (const auto &experts = report.experts)
    out["experts"] = {{"axes", experts->axes}, {"world", experts->world},  {"tp", experts->tp},
                      {"pp", experts->pp},     {"cp", experts->cp},        {"dp", experts->dp},
                      {"etp", experts->etp},   {"ep", experts->ep},        {"edp", experts->edp},
                      {"rest", experts->rest}, {"copies", experts->copies}};
  out["transfers"] = nlohmann::json::array();
  for (const TransferReport &t : report.transfers) {
    out["transfers"].push_back({{"stage", t.stage},
                                {"phase", t.phase},
                                {"op", t.op},
                                {"axes", t.axes},
                                {"bytes", t.bytes},
                                {"sent", t.sent},
                                {"count", t.count},
                                {"ranks", t.ranks},
                                {"factor", t.factor},
                                {"implicit", t.implicit},
                                {"remedy", t.remedy},
                                {"cause", t.cause},
                                {"path", t.path},
                                {"source", t.source}});
    if (!t.stream.empty()) // beside computing
      out["transfers"].back()["stream"] = t.stream;
  }
  return out;
}
