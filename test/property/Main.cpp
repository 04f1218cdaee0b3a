// A plan never changes what a model computes: random small models under random plans, in float64 on the interpreter,
// against one rank; and what is illegal gets its error. See README.md.
#include "test/property/Run.h"
#include "test/property/Shrink.h"
#include <CLI/CLI.hpp>
#include <atomic>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <map>
#include <regex>
#include <sstream>
using namespace hocket::property;

namespace {
struct Options {
  uint64_t seed = 20261130, first = 0, draws = 150;
  int jobs = 2, tries = 150, most = 1;
  int64_t wholeBelow = 0, steps = 2;
  std::string work = "property-failures", replay, broken;
  bool print = false, executables = false;
};

Work workOf(const Draw &draw, const Options &options) {
  static std::atomic<int> folders = 0;
  std::string folder = options.executables ? fmt::format("{}/run{}", options.work, folders++ % 64) : "";
  return {fileOf(draw), expectationOf(draw), static_cast<uint64_t>(draw.seed), draw.steps, options.wholeBelow,
          folder,       options.broken};
}

/// What kind of fault it is, with numbers and names left out, so that one fault is told once and does not become
/// another while it is made smaller.
std::string keyOf(const Verdict &verdict) {
  std::string key = verdict.kind + ": ";
  if (verdict.kind == "wrong numbers")
    return key;
  for (char c : verdict.text.substr(0, 300))
    if (!std::isdigit(static_cast<unsigned char>(c)))
      key += c;
  static const std::regex names("\"[^\"]*\"|'[^']*'|h\\.\\.[a-z_.]*");
  return std::regex_replace(key, names, "_").substr(0, 120);
}

/// Shrinks, writes the file and says how to see it again.
void report(const Draw &draw, uint64_t index, const Outcome &outcome, const Options &options) {
  Expectation owed = expectationOf(draw);
  Draw small = shrink(
      draw,
      [&](const Draw &next) {
        bool sound = expectationOf(next).kind == owed.kind && (next.wrong || isLegal(next));
        return sound && keyOf(runOne(workOf(next, options)).verdict) == keyOf(outcome.verdict);
      },
      outcome.verdict.kind == "takes what is illegal" ? 0 : options.tries);
  Outcome again = runOne(workOf(small, options));
  if (again.verdict.kind.empty())
    small = draw, again = outcome; // it fails now and then
  std::filesystem::create_directories(options.work);
  std::string file = fmt::format("{}/draw-{}-{}.mlir", options.work, options.seed, index);
  std::string command = options.executables
                            ? fmt::format("property --executables --replay {} --steps {}", file, small.steps)
                            : fmt::format("property --replay {} --data-seed {} --steps {} --whole-below {}", file,
                                          small.seed, small.steps, options.wholeBelow);
  std::ofstream(file) << fmt::format("// {}: {}\n// {}\n// draw {} of seed {}: {}\n", again.verdict.kind,
                                     again.verdict.text.substr(0, again.verdict.text.find('\n')), command, index,
                                     options.seed, describe(small))
                      << fileOf(small);
  fmt::print("fault: {}: {}\n  draw {} of seed {}: {}\n  smallest that fails so: {}\n{}  see it again: {}\n  and: "
             "hocket check {} --plan plan\n",
             again.verdict.kind, again.verdict.text, index, options.seed, describe(draw), describe(small),
             planText(small), command, file);
  fflush(stdout);
}

int replay(const Options &options) {
  std::ifstream file(options.replay);
  std::stringstream text;
  text << file.rdbuf();
  if (!file) {
    fmt::print(stderr, "property: cannot read '{}'\n", options.replay);
    return 2;
  }
  RunResult result = options.executables
                         ? runExecutable(text.str(), options.work + "/replay", options.steps)
                         : runFile(text.str(), options.seed, options.steps, options.wholeBelow, options.broken);
  for (const std::string &sentence : result.sentences)
    fmt::print("error: {}\n", sentence);
  if (!result.refusedBy.empty())
    fmt::print("refused by {}\n", result.refusedBy);
  else if (!result.cannotRun.empty())
    fmt::print("{}\n", result.cannotRun);
  else
    fmt::print("{} differs most from one rank's, {:.3g} times the limit\n",
               result.worstName.empty() ? "nothing" : result.worstName, result.worst);
  return result.refusedBy.empty() && result.cannotRun.empty() && result.worst <= 1 ? 0 : 1;
}

/// All draws of a run and what came of them.
class Tally {
public:
  explicit Tally(const Options &options) : options(options) {}

  /// The next draw to be tried; those whose numbers meant nothing are drawn anew.
  std::optional<Work> next() {
    constexpr uint64_t redrawn = uint64_t(1) << 40;
    if (!again.empty()) {
      indices.push_back(again.back() + redrawn);
      again.pop_back();
    } else if (begun < options.draws) {
      indices.push_back(options.first + begun++);
    } else {
      return std::nullopt;
    }
    drawn.push_back(drawOf(options.seed, indices.back(), options.executables));
    if (!drawn.back().wrong && !isLegal(drawn.back()))
      fmt::print("fault: draw {} is not legal: {}\n", indices.back(), describe(drawn.back()));
    return workOf(drawn.back(), options);
  }

  void add(size_t number, const Outcome &outcome) {
    ++counts[outcome.came];
    if (outcome.came == Came::Right)
      ++ranks[drawn[number].ranks()], worst = std::max(worst, outcome.worst);
    if (outcome.came == Came::Discarded)
      again.push_back(indices[number]);
    seconds += outcome.seconds;
    if (outcome.seconds > slowest)
      slowest = outcome.seconds, slow = number;
    if (outcome.came == Came::Faulty) {
      ++kinds[keyOf(outcome.verdict)];
      failures.push_back({number, outcome});
      fmt::print(stderr, "draw {}: {}\n", indices[number], outcome.verdict.kind);
    }
  }

  /// Tells each kind of fault at most `most` times, and the sums. Returns the exit status.
  int finish() {
    std::map<std::string, int> told;
    for (const auto &[number, outcome] : failures)
      if (told[keyOf(outcome.verdict)]++ < options.most)
        report(drawn[number], indices[number], outcome, options);
    for (auto &[kind, count] : kinds)
      fmt::print("fault: {} times {}\n", count, kind);
    std::string spread;
    for (auto &[count, times] : ranks)
      spread += fmt::format(" {}:{}", count, times);
    fmt::print("draws by ranks:{}\n", spread);
    fmt::print("greatest difference {:.1e} of the limit; {:.2f} s a draw, at most {:.2f} (draw {})\n", worst,
               seconds / std::max<double>(1, drawn.size()), slowest, indices[slow]);
    fmt::print("{} draws: {} right, {} refused as they must or may be, {} drawn anew, {} faulty\n", drawn.size(),
               counts[Came::Right], counts[Came::Refused], counts[Came::Discarded], counts[Came::Faulty]);
    return counts[Came::Faulty] ? 1 : 0;
  }

private:
  const Options &options;
  uint64_t begun = 0;
  std::vector<Draw> drawn;
  std::vector<uint64_t> indices, again; ///< of each in `drawn`; of those to be drawn anew
  std::map<Came, int> counts;
  std::map<std::string, int> kinds;
  std::map<int64_t, int> ranks;
  std::vector<std::pair<size_t, Outcome>> failures; ///< by place in `drawn`
  double worst = 0, seconds = 0, slowest = 0;
  size_t slow = 0;
};

int run(const Options &options) {
  fmt::print("seed {}, draws {} to {}\n", options.seed, options.first, options.first + options.draws - 1);
  Tally tally(options);
  runAll(
      options.jobs, [&] { return tally.next(); },
      [&](size_t number, const Work &, const Outcome &outcome) { tally.add(number, outcome); });
  return tally.finish();
}
} // namespace

int main(int argc, char **argv) {
  Options options;
  CLI::App app("random models under random plans against one rank", "property");
  app.add_option("--seed", options.seed, "of the draws");
  app.add_option("--draws", options.draws, "how many");
  app.add_option("--first", options.first, "number of the first draw");
  app.add_option("--jobs", options.jobs, "draws at a time");
  app.add_option("--tries", options.tries, "how many smaller draws are tried for a failure");
  app.add_option("--most", options.most, "how many failures of a kind are shrunk");
  app.add_option("--work", options.work, "folder for the files of failures");
  app.add_option("--whole-below", options.wholeBelow, "bytes of a parameter below which ZeRO leaves it whole");
  app.add_flag("--executables", options.executables, "compiled and run in float32, not interpreted");
  app.add_option("--broken", options.broken,
                 "an op, as dist.mask, that does nothing in these runs: faults must be found");
  app.add_flag("--print", options.print, "prints the file of the draw --first, and ends");
  app.add_option("--replay", options.replay, "runs the plan @plan of a file");
  app.add_option("--data-seed", options.seed, "of tokens and initial values, for --replay");
  app.add_option("--steps", options.steps, "for --replay");
  CLI11_PARSE(app, argc, argv);
  if (!options.replay.empty())
    return replay(options);
  if (options.print) {
    Draw draw = drawOf(options.seed, options.first, options.executables);
    fmt::print("// {}\n{}", describe(draw), fileOf(draw));
    return 0;
  }
  return run(options);
}
