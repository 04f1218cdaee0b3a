// The report for people: layers alike are one line, the step is a timeline.
#include "passes/Schedule/Judge.h"
#include "passes/Schedule/Simulator.h"
#include "passes/Schedule/Solvers.h"
#include "passes/Schedule/Timeline.h"
#include "tools/hocket/Report.h"
#include <fmt/format.h>
#include <fmt/ranges.h>
using namespace hocket;
using namespace hocket::tools;

namespace {
/// A name with its layer number taken out: "h.3.attn" is "h.*.attn" and 3. Only the first number counts.
std::pair<std::string, int> withoutLayer(const std::string &name) {
  for (size_t begin = name.find('.'); begin != std::string::npos; begin = name.find('.', begin + 1)) {
    size_t end = begin + 1;
    while (end < name.size() && std::isdigit(static_cast<unsigned char>(name[end])))
      ++end;
    if (end > begin + 1 && (end == name.size() || name[end] == '.'))
      return {name.substr(0, begin + 1) + "*" + name.substr(end), std::stoi(name.substr(begin + 1, end - begin - 1))};
  }
  return {name, -1};
}
/// Every layer number of one layer in a text.
std::string withoutLayers(std::string text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    size_t end = i + 1;
    while (text[i] == '.' && end < text.size() && std::isdigit(static_cast<unsigned char>(text[end])))
      ++end;
    if (text[i] == '.' && end > i + 1 &&
        (end == text.size() || text[end] == '.' || text[end] == ' ' || text[end] == ':')) {
      out += ".*";
      i = end - 1;
    } else {
      out += text[i];
    }
  }
  return out;
}
std::string shapeText(const std::vector<uint64_t> &shape) { return fmt::format("{}", fmt::join(shape, "x")); }
std::string cut(std::string text, size_t most) { return text.size() <= most ? text : text.substr(0, most) + " …"; }

/// Lines that are alike but for the layer, in order of first appearance.
template <typename Item> struct Alike {
  struct Line {
    Item item;
    int first, last;
    uint64_t count;
  };
  std::vector<Line> lines;
  std::map<std::string, size_t> index;

  void add(const std::string &key, const Item &item, int layer, uint64_t count) {
    auto [it, fresh] = index.try_emplace(key, lines.size());
    if (fresh)
      lines.push_back({item, layer, layer, 0});
    Line &line = lines[it->second];
    line.first = std::min(line.first, layer);
    line.last = std::max(line.last, layer);
    line.count += count;
  }
  /// "h.0-2.attn" for "h.*.attn" on layers 0 to 2.
  static std::string name(const Line &line, const std::string &pattern) {
    size_t star = pattern.find('*');
    if (star == std::string::npos)
      return pattern;
    std::string range = std::to_string(line.first) + (line.last != line.first ? "-" + std::to_string(line.last) : "");
    return pattern.substr(0, star) + range + pattern.substr(star + 1);
  }
};

std::string holdingsText(const RankReport &rank) {
  Alike<HoldingReport> alike;
  for (const HoldingReport &h : rank.holdings) {
    auto [pattern, layer] = withoutLayer(h.name);
    alike.add(
        fmt::format("{} {} {} {} {}", pattern, shapeText(h.shape), h.split, shapeText(h.stateLocal), h.stateSplit), h,
        layer, 1);
  }
  std::string out = fmt::format("  holds     {:<30} {:<16} {:<16} {:<28} {}\n", "parameter", "whole", "on a rank",
                                "split", "optimizer state");
  for (auto &line : alike.lines) {
    const HoldingReport &h = line.item;
    std::string state = h.stateLocal.empty()      ? "frozen"
                        : h.stateLocal == h.local ? "the same"
                                                  : shapeText(h.stateLocal) + ": " + h.stateSplit;
    out += fmt::format("            {:<30} {:<16} {:<16} {:<28} {}\n", alike.name(line, withoutLayer(h.name).first),
                       shapeText(h.shape), shapeText(h.local), h.split.empty() ? "whole" : h.split, state);
  }
  return out;
}

std::string transfersText(const Report &report, uint32_t stage) {
  Alike<TransferReport> alike;
  std::map<std::string, uint64_t> sentOver;
  for (const TransferReport &t : report.transfers) {
    if (t.stage != stage)
      continue;
    auto [pattern, layer] = withoutLayer(t.path);
    alike.add(fmt::format("{} {} {} {} {} {}", t.phase, t.op, t.axes, t.bytes, pattern, withoutLayers(t.cause)), t,
              layer, t.count);
    if (t.sent)
      sentOver[t.op == "send" ? "the next or previous stage" : "over " + t.axes] += t.sent * t.count;
  }
  std::string out, phase;
  for (auto &line : alike.lines) {
    const TransferReport &t = line.item;
    if (t.phase != phase)
      out += fmt::format("  {}\n", (phase = t.phase) +
                                       (t.phase == "forward" || t.phase == "backward" ? " (of all microbatches)" : ""));
    out += fmt::format("    {:>5} x {:<14} {:<12} {:>11}  {:<22} {}\n", line.count, t.op, t.axes, bytesText(t.bytes),
                       alike.name(line, withoutLayer(t.path).first),
                       cut(line.first == line.last ? t.cause : withoutLayers(t.cause), 110));
  }
  out += "  a rank sends in a step, where rings are used:";
  for (auto &[axes, bytes] : sentOver)
    out += fmt::format(" {} {},", axes, bytesText(bytes));
  out.back() = '\n';
  return out;
}

std::string timelineText(const program::ProgramT &program) {
  schedule::Problem problem;
  problem.stages = program.ranks.size();
  problem.microbatches = program.microbatches;
  for (schedule::Times &times : problem.times)
    times.backward = 2;
  schedule::Faults faults;
  auto tables = schedule::solve(program.schedule, problem, faults);
  auto simulation = tables ? schedule::simulate(problem, *tables, {}, faults) : std::nullopt;
  if (!simulation)
    return "";
  std::string out = "\ntimeline, a backward taken as twice a forward: ";
  if (program.microbatches > 64)
    return out + schedule::summary(*simulation) + "\n";
  schedule::TimelineOptions options;
  options.indent = "  ";
  options.unit = 1;
  return out + schedule::summary(*simulation) + "\n" + schedule::renderTimeline(*tables, *simulation, options);
}
} // namespace

std::string hocket::tools::reportText(const Report &report, const program::ProgramT &program) {
  std::string mesh, out;
  for (auto &axis : program.axes)
    mesh += fmt::format("{}{}={}", mesh.empty() ? "" : " ", axis->name, axis->size);
  bool pipeline = program.ranks.size() > 1;
  out += fmt::format("model {} ({} parameters) under plan {} on {}\n", program.name, program.parameters, program.plan,
                     mesh);
  out += fmt::format("batch {} sequences of {} tokens: {} microbatches of {} sequences a rank; {}\n",
                     program.globalBatch, program.sequence, program.microbatches, program.microbatchRows,
                     pipeline ? "schedule " + program.schedule : "no pipeline");
  for (const RankReport &rank : report.ranks) {
    out += pipeline
               ? fmt::format("\nstage {}: {} ranks alike, the first is {}\n", rank.stage, rank.ranks, rank.coordinates)
               : fmt::format("\nall {} ranks are alike, the first is {}\n", rank.ranks, rank.coordinates);
    out += fmt::format("  layers    {}\n", rank.layers) + holdingsText(rank);
    out += fmt::format("  memory    {} a rank, planned:", bytesText(rank.peakBytes));
    for (auto &[name, bytes] : rank.bytesByClass)
      out += fmt::format(" {} {},", name, bytesText(bytes));
    out.back() = '\n';
    for (const std::string &group : rank.groups)
      out += fmt::format("  talks     over {}\n", group);
    out += fmt::format("  order     {}\n", cut(rank.order, 150));
    out += transfersText(report, rank.stage);
  }
  return out + (pipeline ? timelineText(program) : "");
}
