// Writes events and boxes.
#include "passes/Schedule/TimelineFiles.h"

#include "passes/Schedule/IdleTime.h"

#include <fmt/format.h>
#include <iterator>

namespace hocket::schedule {
namespace {

/// For JSON strings and XML text alike: names of ranks and streams are words, signs of both are left out of them.
std::string plain(std::string_view text) {
  std::string out;
  for (char c : text)
    if (c != '"' && c != '\\' && c != '<' && c != '&' && static_cast<unsigned char>(c) >= ' ')
      out += c;
  return out;
}

std::string processOf(const TimelineNames &names, uint32_t stage) {
  return stage < names.processes.size() ? plain(names.processes[stage]) : fmt::format("stage {}", stage);
}

struct EventWriter {
  const TimelineNames &names;
  std::string text;
  uint32_t process = 0;

  void meta(const char *kind, size_t thread, const std::string &value) {
    fmt::format_to(std::back_inserter(text),
                   R"({{"args":{{"name":"{}"}},"name":"{}","ph":"M","pid":{},"tid":{}}},)"
                   "\n",
                   value, kind, process, thread);
  }
  void event(const std::string &name, unsigned thread, uint32_t microbatch, double start, double end, bool works) {
    fmt::format_to(
        std::back_inserter(text),
        R"({{"args":{{"microbatch":{},"step":1}},"dur":{},"name":"{}","ph":"X","pid":{},"tdur":{},"tid":{},"ts":{}}},)"
        "\n",
        microbatch, (end - start) * names.microseconds, name, process, works ? (end - start) * names.microseconds : 0,
        thread, start * names.microseconds);
  }
};

const char *colourOf(BodyKind kind) {
  switch (kind) {
  case BodyKind::Forward:
  case BodyKind::Evaluate:
    return "#9ecae1";
  case BodyKind::Backward:
  case BodyKind::FinalBackward:
    return "#a1d99b";
  case BodyKind::WeightGrad:
  case BodyKind::FinalWeightGrad:
    return "#fdae6b";
  case BodyKind::Recompute:
    return "#bcbddc";
  default:
    return "#d9d9d9";
  }
}

} // namespace

std::string chromeTimeline(const Tables &tables, const Simulation &simulation, const TimelineNames &names) {
  EventWriter out{names, "{\"displayTimeUnit\": \"ms\", \"traceEvents\": [\n"};
  for (uint32_t s = 0; s < tables.stages.size(); ++s) {
    const Table &table = tables.stages[s];
    out.process = s < names.ids.size() ? names.ids[s] : s;
    out.meta("process_name", 0, processOf(names, s));
    for (size_t i = 0; i < table.streams.size(); ++i)
      out.meta("thread_name", i, plain(table.streams[i]));
    for (size_t i = 0; i < table.rows.size(); ++i) {
      const Row &row = table.rows[i];
      if (simulation.end[s][i] > simulation.start[s][i])
        out.event(row.kind == RowKind::Body ? describe(tables, row) : name(tables.messages[row.index]), row.stream,
                  row.microbatch, simulation.start[s][i], simulation.end[s][i], row.kind == RowKind::Body);
    }
    for (const IdleTime &gap : idleTimes(tables, s, simulation))
      out.event(fmt::format("idle: {}", name(gap.cause)), 0, 0, gap.start, gap.end, false);
  }
  return out.text + R"({"name":"trace_end","ph":"M","pid":0})" + "\n]}\n";
}

std::string svgTimeline(const Tables &tables, const Simulation &simulation, uint32_t width) {
  constexpr int left = 70, top = 20, height = 26, step = 32;
  double scale = simulation.makespan > 0 ? width / simulation.makespan : 0;
  std::string text = fmt::format("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{}\" height=\"{}\" "
                                 "font-family=\"sans-serif\" font-size=\"11\">\n",
                                 width + left + 10, top + step * tables.stages.size() + 30);
  auto box = [&](double start, double end, int y, const char *fill, const std::string &title,
                 const std::string &label) {
    double x = left + start * scale, wide = (end - start) * scale;
    fmt::format_to(std::back_inserter(text),
                   "<g><rect x=\"{:.2f}\" y=\"{}\" width=\"{:.2f}\" height=\"{}\" fill=\"{}\" stroke=\"#666\" "
                   "stroke-width=\"0.5\"/><title>{}, {:.6g} to {:.6g}</title>",
                   x, y, wide, height, fill, title, start, end);
    if (wide > 7.0 * double(label.size()) && !label.empty())
      fmt::format_to(std::back_inserter(text), "<text x=\"{:.2f}\" y=\"{}\" text-anchor=\"middle\">{}</text>",
                     x + wide / 2, y + height / 2 + 4, label);
    text += "</g>\n";
  };
  for (uint32_t s = 0; s < tables.stages.size(); ++s) {
    const Table &table = tables.stages[s];
    int y = top + step * int(s);
    fmt::format_to(std::back_inserter(text), "<text x=\"4\" y=\"{}\">stage {}</text>\n", y + height / 2 + 4, s);
    for (const IdleTime &gap : idleTimes(tables, s, simulation))
      box(gap.start, gap.end, y, "none", fmt::format("idle: {}", name(gap.cause)), "");
    for (size_t i = 0; i < table.rows.size(); ++i) {
      const Row &row = table.rows[i];
      if (row.kind == RowKind::Body && simulation.end[s][i] > simulation.start[s][i])
        box(simulation.start[s][i], simulation.end[s][i], y, colourOf(bodyKind(row)), describe(tables, row),
            oncePerStep(bodyKind(row)) ? "" : fmt::format("{}", row.microbatch));
    }
  }
  fmt::format_to(std::back_inserter(text), "<text x=\"{}\" y=\"{}\">{}</text>\n</svg>\n", left,
                 top + step * tables.stages.size() + 16, summary(simulation));
  return text;
}

} // namespace hocket::schedule
