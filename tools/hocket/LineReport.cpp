// See LineReport.h. Everything is read from the program file: each state, instruction and message names its source
// line.
#include "tools/hocket/LineReport.h"
#include "runtime/Launch/Counted.h"
#include "tools/hocket/Report.h"
#include "tools/hocket/Session.h"
#include "llvm/ADT/StringExtras.h"
#include <fmt/format.h>
#include <set>
using namespace hocket;
using namespace hocket::tools;

namespace {
/// One thing that comes of the line.
struct Item {
  uint32_t stage;
  std::string phase, what;
  uint64_t times = 0, bytes = 0, flops = 0; ///< in a step; bytes and flops of one time
  std::string remedy = "";                  ///< of a collective
};

struct Line {
  llvm::StringRef file;
  unsigned number = 0;
  /// "model.mlir:12:8" of "model.mlir:12", whatever folders either of them names.
  bool holds(llvm::StringRef source) const {
    auto [place, column] = source.rsplit(':');
    auto [path, line] = place.rsplit(':');
    unsigned at = 0;
    if (line.getAsInteger(10, at) || at != number)
      return false;
    auto ends = [](llvm::StringRef path, llvm::StringRef tail) {
      return path.consume_back(tail) && (path.empty() || path.ends_with("/"));
    };
    return ends(path, file) || ends(file, path);
  }
};

struct LineReporter {
  const program::ProgramT &program;
  const ShardingFacts &facts;
  Line line;
  std::vector<Item> items;
  std::vector<ShardingFact> values;

  bool here(uint32_t source) const { return line.holds(program.strings[source]); }

  static std::map<std::pair<program::RowKind, uint32_t>, uint64_t> runsOf(const program::RankProgramT &rank) {
    std::map<std::pair<program::RowKind, uint32_t>, uint64_t> runs;
    for (auto &entry : rank.entries)
      if (entry->name == "train")
        for (const program::Row &row : entry->rows)
          ++runs[{row.kind(), row.index()}];
    return runs;
  }

  void addWork(const program::RankProgramT &rank, const program::BodyT &body, uint64_t times) {
    for (auto &each : body.instructions) {
      if (!here(each->source))
        continue;
      Item item{rank.stage, body.name, program.strings[each->what], times, 0, 0};
      if (each->op == program::Op::Kernel) {
        item.flops = program.kernels[each->kernel]->flops;
        item.bytes = program.kernels[each->kernel]->bytes;
      } else if (each->op == program::Op::Gemm) {
        item.flops = 2 * each->gemm->m() * each->gemm->n() * each->gemm->k() * each->gemm->batch();
        for (const program::Buffer &buffer : each->buffers)
          item.bytes += buffer.bytes();
      } else {
        item.what += " over " + program.communicators[each->communicator]->name + ": " + program.strings[each->cause];
        item.bytes = std::max(each->buffers[0].bytes(), each->buffers[1].bytes());
        item.remedy = remedyOf(*each);
      }
      items.push_back(std::move(item));
    }
  }

  std::string remedyOf(const program::InstructionT &each) const {
    Report one;
    one.transfers.push_back({});
    TransferReport &transfer = one.transfers.back();
    transfer.op = snakeCase(program::EnumNameOp(each.op));
    transfer.cause = program.strings[each.cause];
    transfer.path = program.strings[each.path];
    addRemedies(facts, one);
    return transfer.remedy;
  }

  void add(const program::RankProgramT &rank) {
    for (auto &state : rank.state)
      if (here(state->source))
        items.push_back({rank.stage, "holds", std::string(program::EnumNameStateKind(state->kind)) + " " + state->name,
                         1, state->buffer->bytes(), 0});
    for (auto [row, times] : runsOf(rank))
      if (row.first == program::RowKind::Body)
        addWork(rank, *rank.bodies[row.second], times);
      else if (auto &message = *rank.messages[row.second]; here(message.source))
        items.push_back({rank.stage, row.first == program::RowKind::Send ? "sends" : "receives", message.name, times,
                         message.buffer->bytes(), 0});
  }

  /// Lines that something comes of.
  std::set<unsigned> lines() const {
    std::set<unsigned> found;
    for (const std::string &source : program.strings) {
      auto [path, number] = llvm::StringRef(source).rsplit(':').first.rsplit(':');
      unsigned at = 0;
      if (!number.getAsInteger(10, at) && Line{line.file, at}.holds(source))
        found.insert(at);
    }
    return found;
  }
};

std::string textOf(const Item &item) {
  std::string text =
      fmt::format("  stage {:<3} {:<9} {:>5} x {:>11} {:>9}  {}\n", item.stage, item.phase, item.times,
                  bytesText(item.bytes), item.flops ? fmt::format("{:.2e}", double(item.flops)) : "", item.what);
  return item.remedy.empty() ? text : text + fmt::format("{:>46}removed by {}\n", "", item.remedy);
}

void printValues(const std::vector<ShardingFact> &values) {
  for (const ShardingFact &fact : values) {
    fmt::print("  lives     {:<9} {} {} {}: {}\n", fact.phase, fact.op, fact.name, fact.type, fact.sharding);
    for (const SplitFact &split : fact.splits)
      fmt::print("{:>12}{}\n", "", splitText(split));
  }
}
} // namespace

void hocket::tools::lineFaults(const std::string &at, std::vector<std::string> &faults) {
  auto [file, number] = llvm::StringRef(at).rsplit(':');
  if (unsigned line = 0; file.empty() || number.getAsInteger(10, line) || line == 0)
    faults.push_back(fmt::format("'{}' is not FILE:LINE, as in model.mlir:12", at));
}

bool hocket::tools::explainLine(Session &session, const program::ProgramT &program, const ShardingFacts &facts,
                                const std::string &at, bool json) {
  auto [file, number] = llvm::StringRef(at).rsplit(':');
  LineReporter reporter{program, facts, {file, 0}, {}, {}};
  if (number.getAsInteger(10, reporter.line.number))
    reporter.line.number = 0; // no line; told when the command line was read
  for (auto &rank : program.ranks)
    reporter.add(*rank);
  for (const ShardingFact &fact : facts.values)
    if (reporter.line.holds(fact.source))
      reporter.values.push_back(fact);
  if (reporter.items.empty()) {
    std::vector<std::string> lines;
    for (unsigned line : reporter.lines())
      lines.push_back(std::to_string(line));
    session.error(lines.empty() ? fmt::format("--at {}: nothing comes of the file '{}'", at, file.str())
                                : fmt::format("--at {}: nothing comes of that line; something comes of lines {}", at,
                                              llvm::join(lines, ", ")));
    return false;
  }
  if (json) {
    nlohmann::ordered_json out{
        {"at", at}, {"items", nlohmann::json::array()}, {"shardings", shardingJson(reporter.values)}};
    for (const Item &item : reporter.items)
      out["items"].push_back({{"stage", item.stage},
                              {"phase", item.phase},
                              {"what", item.what},
                              {"count", item.times},
                              {"bytes", item.bytes},
                              {"flops", item.flops},
                              {"remedy", item.remedy}});
    fmt::print("{}\n", out.dump(2));
    return true;
  }
  fmt::print("of {} come, on each rank of a stage in a step: times x bytes, flops of one time\n", at);
  for (const Item &item : reporter.items)
    fmt::print("{}", textOf(item));
  printValues(reporter.values);
  return true;
}
