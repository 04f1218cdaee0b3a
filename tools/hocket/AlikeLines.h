// Layers that are alike are one line of a report: names with the layer taken out, and lines that differ by it alone.
#pragma once
#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace hocket::tools {

/// A name with its layer number taken out, which is -1 if there is none. Only the first number counts.
///   h.3.attn -> h.*.attn, 3      wte -> wte, -1
std::pair<std::string, int> withoutLayer(const std::string &name);
/// A text with every layer number taken out.
///   the gradient of h.3.ln_1.bias is a sum -> the gradient of h.*.ln_1.bias is a sum
std::string withoutLayers(const std::string &text);

/// Items with the same key, in order of first appearance, with the layers they are of.
template <typename Item> struct AlikeLines {
  struct Line {
    Item item; ///< the first
    int first, last;
    uint64_t count;
  };
  std::vector<Line> lines;

  void add(const std::string &key, const Item &item, int layer, uint64_t count) {
    auto [it, fresh] = index.try_emplace(key, lines.size());
    if (fresh)
      lines.push_back({item, layer, layer, 0});
    Line &line = lines[it->second];
    line.first = std::min(line.first, layer);
    line.last = std::max(line.last, layer);
    line.count += count;
  }
  /// The name of a line whose pattern is h.*.attn, on layers 0 to 2: h.0-2.attn; `anonymous`: h.[3].attn.
  static std::string name(const Line &line, const std::string &pattern, bool anonymous) {
    size_t star = pattern.find('*');
    if (star == std::string::npos)
      return pattern;
    std::string range = std::to_string(line.first) + (line.last != line.first ? "-" + std::to_string(line.last) : "");
    if (anonymous)
      range = "[" + std::to_string(line.last - line.first + 1) + "]";
    return pattern.substr(0, star) + range + pattern.substr(star + 1);
  }

private:
  std::map<std::string, size_t> index;
};
} // namespace hocket::tools
