// Compiles a file under its plan, and runs it by reference semantics on one rank and on all ranks of the plan.
#pragma once
#include "test/property/Draw.h"
#include <functional>
#include <optional>

namespace hocket::property {

/// What came of a file. `refusedBy` is empty where it compiled as far as verified step programs.
struct RunResult {
  std::string refusedBy;              ///< "the parser", "the verifier", "the plan", or the name of a pass
  std::vector<std::string> sentences; ///< of all errors
  std::string cannotRun;              ///< the interpreter's fault, or that ranks disagree
  double worst = 0;                   ///< greatest difference of anything from one rank
  std::string worstName;
  bool discarded = false; ///< numbers mean nothing: two experts were too near for a choice between them
};

/// Of the plan @plan of `text`. ZeRO leaves parameters below `wholeBelow` bytes whole.
RunResult runFile(const std::string &text, uint64_t seed, int64_t steps, int64_t wholeBelow);

/// What is at fault, in a few words ("" if nothing is) and at length.
struct Verdict {
  std::string kind, text;
};
Verdict judge(const Expectation &owed, const RunResult &result);

/// The same in a process of its own, so that a crash or a loop is a verdict as well.
struct Work {
  std::string text;
  Expectation owed;
  uint64_t seed;
  int64_t steps, wholeBelow;
};
enum class Came : char { Right = 'r', Refused = 'f', Discarded = 'd', Faulty = 'x' };
struct Outcome {
  Came came = Came::Faulty;
  Verdict verdict;
  double worst = 0, seconds = 0;
};
/// Calls `done` with the number and outcome of each piece of work, `jobs` at a time, in any order. `next` gives work
/// until it gives none.
void runAll(int jobs, const std::function<std::optional<Work>()> &next,
            const std::function<void(size_t, const Work &, const Outcome &)> &done);
Outcome runOne(const Work &work);
} // namespace hocket::property
