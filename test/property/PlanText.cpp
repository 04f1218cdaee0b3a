// Writes a draw's plan, and says what the compiler owes to it. Legality is stated here anew, not asked of the compiler.
#include "test/property/Draw.h"
#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <regex>

namespace hocket::property {

const std::vector<std::string> &schedules() {
  static const std::vector<std::string> names = {"1f1b",  "gpipe", "interleaved-1f1b", "zb-h1", "zb-h2",     "zb-1p",
                                                 "zb-2p", "zb-v",  "v-half",           "v-min", "dualpipe-v"};
  return names;
}

std::vector<std::pair<std::string, int64_t>> axesOf(const Draw &draw) {
  std::vector<std::pair<std::string, int64_t>> axes = {{"pp", draw.pp}, {"dp", draw.dp},   {"tp", draw.tp},
                                                       {"cp", draw.cp}, {"dp2", draw.dp2}, {"tp2", draw.tp2}};
  for (int64_t i = 0, order = draw.order; i < 6; order /= 6 - i, ++i) // the order-th permutation
    std::swap(axes[i], axes[i + order % (6 - i)]);
  bool all = draw.unitAxes || draw.ranks() == 1;
  std::erase_if(axes, [&](auto &axis) {
    bool declared = all && axis.first.size() == 2 && (axis.first != "cp" || drawn.context);
    return axis.second == 1 && !declared;
  });
  if (static_cast<Wrong>(draw.wrong) == Wrong::IdleAxis)
    axes.push_back({"idle", 2});
  return axes;
}

namespace {
bool has(const Draw &draw, const std::string &name) {
  auto axes = axesOf(draw);
  return std::any_of(axes.begin(), axes.end(), [&](auto &axis) { return axis.first == name; });
}

/// `size` ranks of an axis behind a factor of `before`; `"tp":(2)4`, or as a part of the one axis.
std::string part(const Draw &draw, const std::string &name, int64_t before, int64_t size) {
  int64_t major = 1;
  for (auto &[other, ranks] : axesOf(draw)) {
    if (other == name && draw.oneAxis && size == draw.ranks())
      return "\"all\"";
    if (other == name && draw.oneAxis)
      return fmt::format("\"all\":({}){}", major * before, size);
    if (other == name && size == ranks)
      return fmt::format("\"{}\"", name);
    major *= ranks;
  }
  return fmt::format("\"{}\":({}){}", name, before, size);
}
std::string braced(const std::vector<std::string> &refs) {
  bool bare = refs.size() == 1 && refs[0].find(':') == std::string::npos;
  return refs.empty() ? "" : bare ? refs[0] : fmt::format("{{{}}}", fmt::join(refs, ", "));
}
std::string listOf(const Draw &draw, std::initializer_list<const char *> names, bool firstOnly = false) {
  std::vector<std::string> refs;
  for (auto &[name, size] : axesOf(draw))
    for (const char *wanted : names)
      if (name == wanted && (!draw.oneAxis || size > 1)) // there is no part of one device
        refs.push_back(part(draw, name, 1, size));
  auto order = [&](const std::string &ref) { // in which `names` has them
    for (auto it = names.begin(); it != names.end(); ++it)
      for (auto &[name, size] : axesOf(draw))
        if (name == *it && part(draw, name, 1, size) == ref)
          return it - names.begin();
    return names.end() - names.begin();
  };
  std::stable_sort(refs.begin(), refs.end(), [&](auto &a, auto &b) { return order(a) < order(b); });
  if (draw.reversed)
    std::reverse(refs.begin(), refs.end());
  if (firstOnly && refs.size() > 1)
    refs.resize(1);
  return braced(refs);
}

/// Any dimension of any parameter over any part of the tensor axes.
std::vector<NamedSplit> freeSplits(const Draw &draw) {
  static const std::regex param("param \"([^\"]*)\" : tensor<([0-9x]*)xf32>");
  std::string text = modelText(draw);
  size_t model = text.find("nn.model");
  std::vector<std::pair<std::string, int64_t>> params; // pattern, rank
  for (auto it = std::sregex_iterator(text.begin(), text.end(), param); it != std::sregex_iterator(); ++it) {
    std::string shape = (*it)[2];
    bool inBlock = static_cast<size_t>(it->position()) < model;
    params.push_back({(inBlock ? "h.*." : "") + (*it)[1].str(), 1 + std::count(shape.begin(), shape.end(), 'x')});
  }
  std::mt19937 random(static_cast<unsigned>(draw.splitSeed));
  std::vector<NamedSplit> splits;
  for (int64_t count = 1 + random() % 3; count > 0; --count) {
    auto &[pattern, rank] = params[random() % params.size()];
    std::string axes = tensorAxes(draw);
    int64_t size = draw.tp % 2 == 0 ? 2 : draw.tp % 3 == 0 ? 3 : 1;
    if (draw.tp2 == 1 && size < draw.tp && size > 1 && random() % 3 == 0)
      axes = braced({random() % 2 ? part(draw, "tp", 1, size) : part(draw, "tp", size, draw.tp / size)});
    std::string name = pattern;
    if (name.starts_with("h.*.") && random() % 5 == 0)
      name.replace(2, 1, "0");
    splits.push_back({name, static_cast<int64_t>(random() % static_cast<uint64_t>(rank)), axes});
  }
  return splits;
}
} // namespace

std::string tensorAxes(const Draw &draw) { return listOf(draw, {"tp", "tp2"}); }
std::string dataAxes(const Draw &draw) { return listOf(draw, {"dp", "dp2"}); }

std::vector<NamedSplit> namedSplits(const Draw &draw) {
  if (draw.splits == Free)
    return freeSplits(draw);
  std::string whole = tensorAxes(draw), kv = whole, groups;
  if (draw.heads == Grouped && draw.kvHeads % draw.tensor() != 0 && !draw.uneven) {
    kv = braced({part(draw, "tp", 1, draw.kvHeads)});
    groups = braced({part(draw, "tp", draw.kvHeads, draw.tp / std::max<int64_t>(draw.kvHeads, 1))});
    if (draw.kvHeads == 1)
      kv = "", groups = whole;
  }
  std::vector<NamedSplit> all;
  auto add = [&](const char *pattern, int64_t dim, const std::string &axes) {
    if (!axes.empty())
      all.push_back({pattern, dim, axes});
  };
  add("h.*.attn.proj.weight", 0, kv);
  bool taken = draw.expertRanks == TensorRanks || draw.expertRanks == AllRanks; // an expert is on one tensor rank
  if (draw.hasDense()) {
    add("h.*.mlp.fc.weight", draw.inner == Gated ? 2 : 1, whole);
    add("h.*.mlp.proj.weight", 0, whole);
  }
  if (draw.experts && !taken) {
    add("h.*.experts.fc.weight", draw.inner == Gated ? 3 : 2, whole);
    add("h.*.experts.proj.weight", 1, whole);
  }
  add("wte", 0, whole);
  if (!draw.tied)
    add("head", 1, whole);
  if (draw.heads == Fused) {
    add("h.*.attn.qkv.weight", 2, kv);
  } else {
    add("h.*.attn.q.weight", 1, kv);
    if (draw.heads == Grouped) {
      add("h.*.attn.q.weight", 2, groups);
      add("h.*.attn.kv.weight", 2, kv);
      add("h.*.attn.proj.weight", 1, groups);
    } else if (draw.heads == Latent) {
      add("h.*.attn.q_rope.weight", 1, kv);
      add("h.*.attn.kv.weight", 2, kv);
    } else {
      add("h.*.attn.k.weight", 1, kv);
      add("h.*.attn.v.weight", 1, kv);
    }
  }
  std::vector<NamedSplit> chosen;
  for (size_t i = 0; i < all.size(); ++i)
    if (draw.splitMask >> i & 1)
      chosen.push_back(all[i]);
  return chosen.empty() && !all.empty() ? std::vector{all.back()} : chosen;
}

std::string planText(const Draw &draw) {
  auto wrong = static_cast<Wrong>(draw.wrong);
  std::string text = "dist.mesh @mesh<";
  if (draw.oneAxis)
    text += fmt::format("\"all\"={}", draw.ranks());
  else
    for (auto &[name, size] : axesOf(draw))
      text += fmt::format("{}\"{}\"={}", text.ends_with('<') ? "" : ", ", name, size);
  text += ">\ndist.plan @plan for @model on @mesh {\n";
  std::string data = dataAxes(draw), tensor = tensorAxes(draw),
              zeroAxes = listOf(draw, {"dp", "dp2", "cp"}, draw.zeroPart);
  text += fmt::format("  batch {}microbatch {} sequences\n", data.empty() ? "" : "over " + data + " ", draw.microbatch);
  if (draw.experts && draw.expertRanks)
    text +=
        fmt::format("  experts over {}\n", draw.expertRanks == DataPart ? braced({part(draw, "dp", draw.dp / 2, 2)})
                                           : draw.expertRanks == AllRanks
                                               ? braced({part(draw, "dp", 1, draw.dp), part(draw, "tp", 1, draw.tp)})
                                           : draw.expertRanks == DataRanks ? listOf(draw, {"dp"})
                                                                           : listOf(draw, {"tp"}));
  const char *uneven = draw.uneven ? " uneven" : "";
  if (!tensor.empty()) {
    if (draw.splits == Megatron || draw.splits == Auto)
      text += fmt::format("  split {} over {}{}\n", draw.splits == Auto ? "auto" : "megatron", tensor,
                          draw.splits == Auto ? "" : uneven);
    else
      for (const NamedSplit &split : namedSplits(draw))
        text += fmt::format("  split \"{}\" dim {} over {}{}\n", split.pattern, split.dim, split.axes,
                            split.pattern.find("attn") != std::string::npos ? uneven : "");
  }
  if (wrong == Wrong::AxisTwice)
    text += "  split \"wte\" dim 0 over \"dp\"\n";
  if (draw.sequenceSplit)
    text += fmt::format("  sequence over {}{}\n", tensor, draw.sequenceSplit == 2 ? " keep gathered" : "");
  static const char *const contexts[] = {"ring", "all_gather", "all_to_all"};
  if (std::string axes = listOf(draw, {"cp"}); !axes.empty())
    text += fmt::format("  context over {} {}\n", axes, contexts[draw.context]);
  if (std::string axes = listOf(draw, {"pp"}); !axes.empty())
    text += fmt::format("  stages over {} schedule \"{}\"{}\n", axes, schedules()[draw.schedule],
                        draw.chunks == 1 ? "" : fmt::format(" chunks {}", draw.chunks));
  static const char *const gathers[] = {"", " gather per_use", " gather kept", " gather once"};
  if (wrong == Wrong::ZeroBesideBatch)
    text += fmt::format("  zero 1 over \"{}\"\n", draw.tp > 1 ? "tp" : "pp");
  else if (!zeroAxes.empty())
    text += fmt::format("  zero {} over {}{}{}\n", draw.zero, zeroAxes, gathers[draw.gather],
                        draw.bucket ? fmt::format(" bucket {}", draw.bucket) : "");
  return text + "}\n";
}

/// Heads over the tensor axes: whole KV heads on each rank, or ranks that share one.
static bool headsFit(const Draw &draw) {
  int64_t ranks = draw.tensor();
  if (draw.cp > 1 && draw.context == AllToAll && draw.kvHeads % (ranks * draw.cp) != 0)
    return false;
  if (draw.splits == Auto || draw.splits == Free || draw.kvHeads % ranks == 0)
    return true;
  if (draw.uneven)
    return draw.tp2 == 1;
  return draw.heads == Grouped && ranks % draw.kvHeads == 0 && draw.group % (ranks / draw.kvHeads) == 0 &&
         (draw.tp2 == 1 || draw.kvHeads == 1);
}

static bool expertsFit(const Draw &draw) {
  if (!draw.experts || !draw.expertRanks)
    return draw.experts == 0 || draw.top < draw.experts;
  bool axes = draw.dp2 == 1 && draw.tp2 == 1;
  switch (draw.expertRanks) {
  case DataRanks:
    axes &= draw.dp > 1;
    break;
  case DataPart:
    axes &= draw.dp > 2 && draw.dp % 2 == 0;
    break;
  case TensorRanks:
    axes &= draw.tp > 1;
    break;
  default:
    axes &= draw.dp > 1 && draw.tp > 1;
  }
  return axes && draw.top < draw.experts && draw.experts % draw.expertDegree() == 0;
}

static bool scheduleFits(const Draw &draw) {
  const std::string &name = schedules()[draw.schedule];
  if (draw.pp == 1)
    return draw.schedule == 0 && draw.chunks == 1;
  if (draw.layers < draw.pp * draw.chunks)
    return false;
  if (name == "interleaved-1f1b")
    return draw.chunks > 1 && draw.microbatches >= draw.pp;
  if (name == "dualpipe-v" && draw.microbatches < 2 * draw.pp)
    return false;
  return draw.chunks == (name[0] == 'v' || name == "zb-v" || name == "dualpipe-v" ? 2 : 1);
}

bool isLegal(const Draw &draw) {
  return headsFit(draw) && expertsFit(draw) && scheduleFits(draw) && draw.sequence % draw.sequenceUnit() == 0 &&
         (draw.places == Learned || draw.headSize % 2 == 0) && (draw.tensor() > 1 || !draw.sequenceSplit) &&
         (draw.splits != Named || !namedSplits(draw).empty());
}

Expectation expectationOf(const Draw &draw) {
  switch (static_cast<Wrong>(draw.wrong)) {
  case Wrong::Nothing:
    if (draw.oneAxis && draw.pp > 1 && draw.pp < draw.ranks())
      return {Expectation::Refuses,
              "lays stages along \\{\"all\":\\([0-9]+\\)[0-9]+\\}; expected one whole axis of the mesh$"};
    if (draw.skip && draw.pp * draw.chunks > 2) // known: a value that passes through a stage may not fit its messages
      return {Expectation::Either, ""};
    if (tensorAxes(draw).empty())
      return {};
    // `split auto` splits nothing that is smaller than the axes.
    if (draw.splits == Free || (draw.splits == Auto && draw.ffn < draw.tensor() && draw.vocabulary < draw.tensor()))
      return {Expectation::Either, ""};
    return {};
  case Wrong::HeadsOverRanks:
    return {Expectation::Refuses,
            "cannot split [0-9]+ heads.* over .*, [0-9]+ ranks; legal degrees for [0-9]+ heads.*: 1"};
  case Wrong::BatchNoMultiple:
    return {Expectation::Refuses, "^global batch [0-9]+ is not a multiple of [0-9]+ .*; nearest legal: [0-9]+"};
  case Wrong::StagesExceedLayers:
    return {Expectation::Refuses, "exceed layers [0-9]+; legal: (1\\.\\.)?[0-9]+( .*)?$"};
  case Wrong::MicrobatchesTooFew:
    return {Expectation::Refuses, "needs at least (twice )?as many microbatches as stages: [0-9]+ < [0-9]+"};
  case Wrong::ChunksOfSchedule:
    return {Expectation::Refuses, "with 2 chunks a stage; legal: 1$"};
  case Wrong::IdleAxis:
    return {Expectation::Refuses, "^no tactic spreads work over mesh axis \"idle\" of 2: "};
  case Wrong::ZeroBesideBatch:
    return {Expectation::Refuses,
            "uses axis \"[a-z0-9]*\", which `[a-z]*` uses already in another way$|does not split the batch"};
  case Wrong::AxisTwice:
    return {Expectation::Refuses, "uses axis \"dp\", which `batch` uses already in another way$"};
  case Wrong::ExpertsOverRanks:
    return {Expectation::Refuses,
            "cannot split [0-9]+ experts over .*, [0-9]+ ranks; legal degrees for [0-9]+ experts: 1"};
  case Wrong::SequenceNoMultiple:
    return {Expectation::Refuses, "expected a multiple of [0-9]+$"};
  }
  return {};
}
} // namespace hocket::property
