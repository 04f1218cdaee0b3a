// Shardings and what would remove collectives, for people and as JSON.
#include "tools/hocket/AlikeLines.h"
#include "tools/hocket/ShardingReport.h"
#include <fmt/format.h>
#include <fmt/ranges.h>
using namespace hocket;
using namespace hocket::tools;

/// Short ways in full, long ones by their ends.
static std::string wayText(const std::vector<std::string> &ops) {
  if (ops.size() <= 4)
    return fmt::format("{}", fmt::join(ops, ", "));
  return fmt::format("{}, {}, … {} ops …, {}", ops[0], ops[1], ops.size() - 3, ops.back());
}

std::string hocket::tools::splitText(const SplitFact &split) {
  std::string what = split.dim < 0 ? "a sum over " + split.axes : fmt::format("dim {} over {}", split.dim, split.axes);
  if (split.tactic.empty())
    return what + (split.dim < 0 ? ": as its operands are" : ": where it was a sum over them");
  std::string text = fmt::format("{}: {}, from \"{}\"", what, split.tactic, split.slot);
  return split.through.empty() ? text : text + " through " + wayText(split.through);
}

/// The same of every layer: names of layers and slots without their numbers.
static std::string keyOf(const ShardingFact &fact) {
  std::string key =
      fmt::format("{} {} {} {} {}", fact.phase, withoutLayer(fact.name).first, fact.op, fact.type, fact.sharding);
  for (const SplitFact &split : fact.splits)
    key += fmt::format(" {} {} {}", split.axes, split.tactic, withoutLayer(split.slot).first);
  return key;
}

static std::string valuesText(const std::vector<ShardingFact> &values) {
  AlikeLines<ShardingFact> alike;
  for (const ShardingFact &fact : values)
    alike.add(keyOf(fact), fact, withoutLayer(fact.name).second, 1);
  std::string
      out =
          "\nshardings: value, whole shape, where it lives; and by which tactic, from which slot, through which ops\n",
      phase;
  for (auto &line : alike.lines) {
    const ShardingFact &fact = line.item;
    if (fact.phase != phase)
      out += fmt::format("  {}\n", phase = fact.phase);
    out += fmt::format("    {:<28} {:<22} {:<20} {}\n", alike.name(line, withoutLayer(fact.name).first, false), fact.op,
                       fact.type, fact.sharding);
    for (const SplitFact &split : fact.splits)
      out += fmt::format("      {}\n", splitText(split));
  }
  return out;
}

/// The first two causes of a transfer that carries many values.
static std::string firstCauses(const std::string &cause) {
  size_t end = cause.find("; ");
  end = end == std::string::npos ? end : cause.find("; ", end + 1);
  return end == std::string::npos ? cause : cause.substr(0, end) + "; …";
}

static std::string transfersText(const Report &report) {
  AlikeLines<TransferReport> alike;
  for (const TransferReport &t : report.transfers) {
    auto [pattern, layer] = withoutLayer(t.path);
    alike.add(fmt::format("{} {} {} {} {} {}", t.phase, t.op, t.axes, t.bytes, pattern, withoutLayers(t.cause)), t,
              layer, t.count);
  }
  std::string out =
      "\ntransfers of a step: times x bytes of the value, what a rank sends of it where rings are used; why; "
      "and what would remove it\n";
  for (auto &line : alike.lines) {
    const TransferReport &t = line.item;
    bool many = line.first != line.last;
    out += fmt::format("  {:<9} {:<22} {:>5} x {:<14} {:<12} {:>11}, sent {} = {} with n={}{}\n", t.phase,
                       alike.name(line, withoutLayer(t.path).first, false), line.count, t.op, t.axes,
                       bytesText(t.bytes), t.factor, bytesText(t.sent), t.ranks, t.implicit ? ", implicit" : "");
    out += fmt::format("      because {}\n", firstCauses(many ? withoutLayers(t.cause) : t.cause));
    if (!t.remedy.empty())
      out += fmt::format("      removed by {}\n", t.remedy);
  }
  return out;
}

std::string hocket::tools::shardingText(const ShardingFacts &facts, const Report &report) {
  return valuesText(facts.values) + transfersText(report);
}

nlohmann::ordered_json hocket::tools::shardingJson(const std::vector<ShardingFact> &values) {
  AlikeLines<ShardingFact> alike;
  for (const ShardingFact &fact : values)
    alike.add(keyOf(fact), fact, withoutLayer(fact.name).second, 1);
  nlohmann::ordered_json out = nlohmann::json::array();
  for (auto &line : alike.lines) {
    const ShardingFact &fact = line.item;
    nlohmann::ordered_json splits = nlohmann::json::array();
    for (const SplitFact &split : fact.splits) {
      nlohmann::ordered_json each{
          {"axes", split.axes}, {"tactic", split.tactic}, {"slot", split.slot}, {"through", split.through}};
      if (split.dim >= 0)
        each["dim"] = split.dim;
      splits.push_back(std::move(each));
    }
    out.push_back({{"path", alike.name(line, withoutLayer(fact.name).first, false)},
                   {"count", line.count},
                   {"op", fact.op},
                   {"phase", fact.phase},
                   {"type", fact.type},
                   {"sharding", fact.sharding},
                   {"splits", splits},
                   {"source", fact.source}});
  }
  return out;
}
