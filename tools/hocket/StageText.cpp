// See StageText.h.
#include "tools/hocket/StageText.h"
#include "runtime/Launch/Counted.h"
#include "tools/hocket/AlikeLines.h"
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <set>
using namespace hocket;
using namespace hocket::tools;

namespace {
std::string shapeText(const std::vector<uint64_t> &shape) { return fmt::format("{}", fmt::join(shape, "x")); }
std::string cut(std::string text, size_t most) { return text.size() <= most ? text : text.substr(0, most) + " …"; }

/// Lines of one stage. `anonymous`: without the numbers of layers and stages, so that stages alike give equal text.
struct StageText {
  const Report &report;
  const RankReport &rank;
  bool anonymous = false;

  std::string edge(std::string text) const {
    if (!anonymous)
      return text;
    auto replace = [&](uint32_t from, uint32_t to, const char *by) {
      std::string what = fmt::format("{} to {}", from, to);
      if (size_t at = text.find(what); at != std::string::npos && at + what.size() == text.size())
        text.replace(at, what.size(), by);
    };
    replace(rank.stage, rank.stage + 1, "here to next");
    replace(rank.stage + 1, rank.stage, "next to here");
    replace(rank.stage, rank.stage - 1, "here to previous");
    replace(rank.stage - 1, rank.stage, "previous to here");
    return text;
  }

  std::string holdings() const {
    AlikeLines<HoldingReport> alike;
    for (const HoldingReport &h : rank.holdings) {
      auto [pattern, layer] = withoutLayer(h.name);
      alike.add(
          fmt::format("{} {} {} {} {}", pattern, shapeText(h.shape), h.split, shapeText(h.stateLocal), h.stateSplit), h,
          layer, 1);
    }
    std::vector<std::array<std::string, 5>> table = {{"parameter", "whole", "on a rank", "split", "optimizer state"}};
    for (auto &line : alike.lines) {
      const HoldingReport &h = line.item;
      table.push_back({alike.name(line, withoutLayer(h.name).first, anonymous), shapeText(h.shape), shapeText(h.local),
                       h.split.empty() ? "whole" : h.split,
                       h.stateLocal.empty()      ? "frozen"
                       : h.stateLocal == h.local ? "the same"
                                                 : shapeText(h.stateLocal) + ": " + h.stateSplit});
    }
    std::array<size_t, 4> width = {30, 16, 16, 28};
    for (auto &row : table)
      for (size_t i = 0; i < width.size(); ++i)
        width[i] = std::max(width[i], row[i].size());
    std::string out;
    for (auto &row : table)
      out += fmt::format("  {:<9} {:<{}} {:<{}} {:<{}} {:<{}} {}\n", out.empty() ? "holds" : "", row[0], width[0],
                         row[1], width[1], row[2], width[2], row[3], width[3], row[4]);
    return out;
  }

  /// "params bf16, accumulators f32, …": all types that there are of each, most often one.
  std::string types() const {
    const std::pair<const char *, std::string HoldingReport::*> kinds[] = {
        {"params", &HoldingReport::type},
        {"copies to compute", &HoldingReport::compute},
        {"accumulators", &HoldingReport::accumulators},
        {"masters", &HoldingReport::master},
        {"moments", &HoldingReport::moments}};
    std::string out;
    for (auto [what, member] : kinds) {
      std::set<std::string> found;
      for (const HoldingReport &h : rank.holdings)
        if (!(h.*member).empty())
          found.insert(h.*member);
      if (!found.empty())
        out += fmt::format("{}{} {}", out.empty() ? "" : ", ", what, fmt::join(found, " and "));
    }
    return fmt::format("  {:<9} {}\n", "types", out);
  }

  std::string transfers() const {
    AlikeLines<TransferReport> alike;
    std::map<std::string, uint64_t> sentOver;
    for (const TransferReport &t : report.transfers) {
      if (t.stage != rank.stage)
        continue;
      auto [pattern, layer] = withoutLayer(t.path);
      alike.add(fmt::format("{} {} {} {} {} {} {}", t.phase, t.op, t.axes, t.bytes, t.stream, pattern,
                            withoutLayers(t.cause)),
                t, layer, t.count);
      if (t.sent)
        sentOver[t.op == "send" ? "the next or previous stage" : "over " + t.axes] += t.sent * t.count;
    }
    std::string out, phase;
    for (auto &line : alike.lines) {
      const TransferReport &t = line.item;
      if (t.phase != phase)
        out += fmt::format("  {}\n",
                           (phase = t.phase) + (t.phase == "forward" || t.phase == "recompute" || t.phase == "backward"
                                                    ? " (of all microbatches)"
                                                    : ""));
      bool many = line.first != line.last || anonymous;
      out += fmt::format("    {:>5} x {:<14} {:<12} {:>11}  {:<22} {}{}\n", line.count, t.op, edge(t.axes),
                         bytesText(t.bytes), edge(alike.name(line, withoutLayer(t.path).first, anonymous)),
                         t.stream.empty() ? "" : fmt::format("beside computing, stream {}: ", t.stream),
                         cut(many ? withoutLayers(t.cause) : t.cause, 110));
    }
    out += "  a rank sends in a step, where rings are used:";
    for (auto &[axes, bytes] : sentOver)
      out += fmt::format(" {} {},", axes, bytesText(bytes));
    out.back() = '\n';
    return out;
  }

  std::string signature() const {
    std::string out = std::to_string(rank.ranks) + holdings() + types() + transfers();
    for (const GroupReport &group : rank.groups)
      out += fmt::format("{} {}\n", edge(group.axes), group.ranks.size());
    return out;
  }
};

/// What lies in the host's memory, and what goes there and back in a step; nothing where that is nothing.
std::string hostText(const Report &report, const RankReport &rank) {
  if (!rank.hostBytes)
    return "";
  std::string out = fmt::format("  host      {} a rank, planned:", bytesText(rank.hostBytes));
  for (auto &[name, bytes] : rank.hostBytesByClass)
    out += fmt::format(" {} {},", name, bytesText(bytes));
  uint64_t there = 0, back = 0;
  for (const TransferReport &t : report.transfers)
    if (t.stage == rank.stage && t.axes == "host")
      (t.op == "offload" ? there : back) += t.bytes * t.count;
  out.back() = ';';
  return out + fmt::format(" {} go there in a step, {} come back\n", bytesText(there), bytesText(back));
}

std::string memoryText(const StageClass &alike) {
  const RankReport &first = *alike.members.front();
  std::string process = fmt::format("beside it {} or less for code and library scratch\n", bytesText(libraryBytes));
  if (alike.members.size() == 1) {
    std::string out = fmt::format("  memory    {} a rank, planned:", bytesText(first.peakBytes));
    for (auto &[name, bytes] : first.bytesByClass)
      out += fmt::format(" {} {},", name, bytesText(bytes));
    out.back() = ';';
    return out + " " + process;
  }
  std::set<std::string> classes;
  for (const RankReport *rank : alike.members)
    for (auto &[name, bytes] : rank->bytesByClass)
      classes.insert(name);
  std::string out = fmt::format("  memory    planned, a rank of {:>8} {:>12}", "stage", "in all");
  for (const std::string &name : classes)
    out += fmt::format(" {:>{}}", name, std::max<size_t>(12, name.size()));
  for (const RankReport *rank : alike.members) {
    out += fmt::format("\n{:>39} {:>12}", rank->stage, bytesText(rank->peakBytes));
    for (const std::string &name : classes) {
      auto it = rank->bytesByClass.find(name);
      out += fmt::format(" {:>{}}", bytesText(it == rank->bytesByClass.end() ? 0 : it->second),
                         std::max<size_t>(12, name.size()));
    }
  }
  return out + "\n            " + process;
}

std::string headText(const StageClass &alike, bool pipeline) {
  const RankReport &first = *alike.members.front(), &last = *alike.members.back();
  if (first.rank)
    return fmt::format("\nrank {}: {}, stage {}\n  layers    {}\n", *first.rank, first.coordinates, first.stage,
                       first.layers);
  if (!pipeline && first.ranks == 1)
    return fmt::format("\none rank, {}\n  layers    {}\n", first.coordinates, first.layers);
  if (!pipeline)
    return fmt::format("\nall {} ranks are alike, the first is {}\n  layers    {}\n", first.ranks, first.coordinates,
                       first.layers);
  if (alike.members.size() == 1 && first.ranks == 1)
    return fmt::format("\nstage {}: 1 rank, {}\n  layers    {}\n", first.stage, first.coordinates, first.layers);
  if (alike.members.size() == 1)
    return fmt::format("\nstage {}: {} ranks alike, the first is {}\n  layers    {}\n", first.stage, first.ranks,
                       first.coordinates, first.layers);
  std::string out =
      fmt::format("\nstages {} to {}: {} each, alike but for their numbers and what is in flight; "
                  "stage {} stands for all, its first rank is {}\n",
                  first.stage, last.stage, run::counted(first.ranks, "rank"), first.stage, first.coordinates);
  for (const RankReport *rank : alike.members)
    out += fmt::format("  {:<9} stage {:<3} {}\n", rank == &first ? "layers" : "", rank->stage, rank->layers);
  return out;
}
} // namespace

std::string hocket::tools::ranksText(const std::vector<uint32_t> &ranks) {
  if (ranks.size() <= 8)
    return fmt::format("{}", fmt::join(ranks, " "));
  return fmt::format("{} … {} ({} ranks)", fmt::join(ranks.begin(), ranks.begin() + 4, " "), ranks.back(),
                     ranks.size());
}

std::vector<StageClass> hocket::tools::stageClasses(const Report &report) {
  std::vector<StageClass> classes;
  std::string before;
  for (const RankReport &rank : report.ranks) {
    std::string signature = StageText{report, rank, /*anonymous=*/true}.signature();
    if (classes.empty() || signature != before)
      classes.emplace_back();
    classes.back().members.push_back(&rank);
    before = std::move(signature);
  }
  return classes;
}

std::string hocket::tools::classText(const Report &report, const StageClass &alike, bool pipeline) {
  const RankReport &first = *alike.members.front();
  StageText text{report, first};
  std::string out =
      headText(alike, pipeline) + text.holdings() + text.types() + memoryText(alike) + hostText(report, first);
  for (const GroupReport &group : first.groups)
    out += fmt::format("  talks     over {}: ranks {}\n", group.axes, ranksText(group.ranks));
  for (const RankReport *rank : alike.members)
    if (rank == &first || rank == alike.members.back())
      out +=
          fmt::format("  {:<9} {}{}\n", rank == &first ? "order" : "",
                      alike.members.size() > 1 ? fmt::format("stage {:<3} ", rank->stage) : "", cut(rank->order, 150));
  return out + text.transfers();
}
