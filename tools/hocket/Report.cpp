#include "tools/hocket/Report.h"
#include "runtime/Program/Mesh.h"
#include <fmt/format.h>
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

namespace {
std::string lower(const char *name) { // AllReduce -> all_reduce
  std::string text;
  for (const char *c = name; *c; ++c)
    text += std::isupper(*c) ? (text.empty() ? "" : "_") + std::string(1, std::tolower(*c)) : std::string(1, *c);
  return text;
}

struct Reporter {
  const program::ProgramT &program;
  program::Mesh mesh;
  Report report;

  explicit Reporter(const program::ProgramT &program) : program(program), mesh(axesOf(program)) {}
  static std::vector<program::Mesh::Axis> axesOf(const program::ProgramT &program) {
    std::vector<program::Mesh::Axis> axes;
    for (auto &axis : program.axes)
      axes.push_back({axis->name, axis->size});
    return axes;
  }
  uint32_t stageOf(uint32_t rank) const {
    return program.stageAxis < 0 ? 0 : mesh.coordinates(rank)[program.stageAxis];
  }
  uint32_t firstRank(uint32_t stage) const {
    for (uint32_t rank = 0; rank < mesh.worldSize(); ++rank)
      if (stageOf(rank) == stage)
        return rank;
    return 0;
  }
  const std::string &string(uint32_t index) const { return program.strings[index]; }

  /// How often a body, or a message, runs in a step.
  std::map<uint32_t, uint64_t> counts(const program::RankProgramT &rank, program::RowKind kind) const {
    std::map<uint32_t, uint64_t> result;
    for (auto &entry : rank.entries)
      if (entry->name == "train")
        for (const program::Row &row : entry->rows)
          if (row.kind() == kind)
            ++result[row.index()];
    return result;
  }

  void addTransfers(const program::RankProgramT &rank) {
    std::map<std::tuple<std::string, std::string, uint64_t, std::string, std::string>, TransferReport> found;
    auto add = [&](TransferReport transfer) {
      auto [it, fresh] = found.try_emplace({transfer.op, transfer.axes, transfer.bytes, transfer.cause, transfer.path}, transfer);
      if (!fresh)
        it->second.count += transfer.count;
    };
    for (auto [body, runs] : counts(rank, program::RowKind::Body))
      for (auto &each : rank.bodies[body]->instructions) {
        if (each->op == program::Op::Kernel || each->op == program::Op::Gemm)
          continue;
        uint64_t bytes = std::max(each->buffers[0].bytes(), each->buffers[1].bytes());
        add({rank.stage, lower(program::EnumNameOp(each->op)), program.communicators[each->communicator]->name, string(each->cause),
             string(each->path), string(each->source), bytes, runs});
      }
    for (auto kind : {program::RowKind::Send, program::RowKind::Receive})
      for (auto [message, runs] : counts(rank, kind)) {
        auto &each = rank.messages[message];
        add({rank.stage, kind == program::RowKind::Send ? "send" : "receive", program.communicators[each->communicator]->name,
             "stages are cut here", each->name, string(each->source), each->buffer->bytes(), runs});
      }
    for (auto &[key, transfer] : found)
      report.transfers.push_back(transfer);
  }

  std::string orderOf(const program::RankProgramT &rank) const {
    std::string order;
    for (auto &entry : rank.entries)
      if (entry->name == "train")
        for (const program::Row &row : entry->rows) {
          if (row.kind() != program::RowKind::Body)
            continue;
          auto kind = rank.bodies[row.index()]->kind;
          std::string name = kind == program::BodyKind::Forward    ? "F" + std::to_string(row.microbatch())
                             : kind == program::BodyKind::Backward ? "B" + std::to_string(row.microbatch())
                                                                   : lower(program::EnumNameBodyKind(kind));
          order += (order.empty() ? "" : " ") + name;
        }
    return order;
  }

  void addRank(const program::RankProgramT &rank) {
    RankReport out;
    uint32_t first = firstRank(rank.stage);
    out.coordinates = mesh.text(first);
    out.stage = rank.stage;
    out.ranks = mesh.worldSize() / program.ranks.size();
    out.layers = rank.layers;
    out.peakBytes = rank.arenaBytes;
    for (const program::MemoryUse &use : rank.memory)
      out.bytesByClass[lower(program::EnumNameMemoryClass(use.kind()))] += use.bytes();
    flatbuffers::FlatBufferBuilder builder;
    for (auto &communicator : program.communicators) {
      builder.Clear();
      builder.Finish(program::CreateCommunicator(builder, communicator.get()));
      auto members = program::members(mesh, first, *flatbuffers::GetRoot<program::Communicator>(builder.GetBufferPointer()));
      if (members.empty())
        continue;
      std::string text = communicator->name + ": ranks";
      for (uint32_t member : members)
        text += " " + std::to_string(member);
      out.groups.push_back(text);
    }
    out.order = orderOf(rank);
    report.ranks.push_back(std::move(out));
  }
};
} // namespace

Report hocket::tools::makeReport(const program::ProgramT &program) {
  Reporter reporter(program);
  for (auto &rank : program.ranks) {
    reporter.addRank(*rank);
    reporter.addTransfers(*rank);
  }
  return std::move(reporter.report);
}

nlohmann::ordered_json Report::json(const program::ProgramT &program) const {
  nlohmann::ordered_json out;
  out["model"] = program.name;
  out["plan"] = program.plan;
  out["parameters"] = program.parameters;
  out["schedule"] = program.schedule;
  for (const RankReport &rank : ranks)
    out["ranks"].push_back({{"coordinates", rank.coordinates}, {"ranks", rank.ranks}, {"stage", rank.stage}, {"layers", rank.layers},
                            {"peak_bytes", rank.peakBytes}, {"library_bytes", 0}, {"bytes_by_class", rank.bytesByClass},
                            {"groups", rank.groups}, {"order", rank.order}});
  out["transfers"] = nlohmann::json::array();
  for (const TransferReport &transfer : transfers)
    out["transfers"].push_back({{"stage", transfer.stage}, {"op", transfer.op}, {"axes", transfer.axes}, {"bytes", transfer.bytes},
                                {"count", transfer.count}, {"cause", transfer.cause}, {"path", transfer.path}, {"source", transfer.source}});
  return out;
}

std::string Report::text(const program::ProgramT &program) const {
  std::string mesh, out;
  for (auto &axis : program.axes)
    mesh += fmt::format("{}{}={}", mesh.empty() ? "" : " ", axis->name, axis->size);
  out += fmt::format("model {} ({} parameters) under plan {} on {}\n", program.name, program.parameters, program.plan, mesh);
  out += fmt::format("batch {} sequences of {} tokens: {} microbatches of {} sequences a rank; schedule {}\n", program.globalBatch,
                     program.sequence, program.microbatches, program.microbatchRows, program.schedule);
  for (const RankReport &rank : ranks) {
    out += fmt::format("\nstage {}: {} ranks, the first is {}\n  layers  {}\n  memory  {} (planned peak of a rank)\n", rank.stage, rank.ranks,
                       rank.coordinates, rank.layers, bytesText(rank.peakBytes));
    for (auto &[name, bytes] : rank.bytesByClass)
      out += fmt::format("          {:<16}{:>12}\n", name, bytesText(bytes));
    for (const std::string &group : rank.groups)
      out += fmt::format("  talks   {}\n", group);
    std::string order = rank.order.size() > 150 ? rank.order.substr(0, 150) + " …" : rank.order;
    out += fmt::format("  order   {}\n", order);
    out += fmt::format("  transfers of a step (bytes of one message, as the value is reduced, gathered or sent)\n");
    for (const TransferReport &transfer : transfers)
      if (transfer.stage == rank.stage)
        out += fmt::format("    {:>4} x {:<14} {:<12} {:>10}  {}  because {}\n", transfer.count, transfer.op, transfer.axes,
                           bytesText(transfer.bytes), transfer.path, transfer.cause);
  }
  return out;
}
