// Draws bodies over time.
#include "passes/Schedule/Timeline.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace hocket::schedule {

static std::string cellOf(const Tables &tables, const Row &row) {
  BodyKind kind = bodyKind(row);
  if (oncePerStep(kind))
    return kind == BodyKind::Begin ? "[" : "]";
  const char letter = "?FBWR?E"[unsigned(kind)];
  std::string cell = fmt::format("{}{}", letter, row.microbatch);
  if (tables.chunks > 1)
    cell += bodyChunk(row) < 26 ? fmt::format("{}", char('a' + bodyChunk(row))) : fmt::format("c{}", bodyChunk(row));
  return cell;
}

static double unitOf(const Tables &tables, const Simulation &simulation, const TimelineOptions &options) {
  if (options.unit > 0)
    return options.unit;
  double unit = 0;
  for (size_t s = 0; s < tables.stages.size(); ++s)
    for (size_t i = 0; i < tables.stages[s].rows.size(); ++i) {
      double length = simulation.end[s][i] - simulation.start[s][i];
      if (tables.stages[s].rows[i].kind == RowKind::Body && length > 0 && (unit == 0 || length < unit))
        unit = length;
    }
  if (unit == 0)
    return 1;
  return std::max(unit, simulation.makespan / std::max(options.columns, 1u));
}

std::string renderTimeline(const Tables &tables, const Simulation &simulation, const TimelineOptions &options) {
  double unit = unitOf(tables, simulation, options);
  // Rounding must not open a column for the last bit of a sum.
  size_t columns = size_t(std::max(0.0, std::ceil(simulation.makespan / unit - 1e-9)));
  std::vector<std::vector<std::string>> lines;
  size_t width = fmt::format("{}", columns ? columns - 1 : 0).size();
  for (size_t s = 0; s < tables.stages.size(); ++s) {
    std::vector<std::string> line(columns, ".");
    for (size_t i = 0; i < tables.stages[s].rows.size(); ++i) {
      const Row &row = tables.stages[s].rows[i];
      if (row.kind != RowKind::Body)
        continue;
      size_t first = size_t(std::max(0.0, std::ceil(simulation.start[s][i] / unit - 0.5 - 1e-9)));
      size_t last = size_t(std::max(0.0, std::ceil(simulation.end[s][i] / unit - 0.5 - 1e-9)));
      for (size_t column = first; column < std::min(last, columns); ++column) {
        line[column] = cellOf(tables, row);
        width = std::max(width, line[column].size());
        if (column > first)
          line[column] = std::string(line[first].size(), '=');
      }
    }
    lines.push_back(std::move(line));
  }
  size_t label = fmt::format("stage {}", tables.stages.size() - 1).size();
  std::string text = fmt::format("{}{:<{}}", options.indent, "time", label);
  for (size_t column = 0; column < columns; ++column)
    text += fmt::format(" {:<{}}", column, width);
  auto endLine = [&] {
    text.erase(text.find_last_not_of(' ') + 1);
    text += '\n';
  };
  endLine();
  for (size_t s = 0; s < lines.size(); ++s) {
    text += fmt::format("{}{:<{}}", options.indent, fmt::format("stage {}", s), label);
    for (const std::string &cell : lines[s])
      text += fmt::format(" {:<{}}", cell, width);
    endLine();
  }
  return text;
}

} // namespace hocket::schedule
