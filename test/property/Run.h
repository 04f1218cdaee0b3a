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
  double worst = 0;                   ///< greatest difference of anything from one rank, in parts of what is allowed
  std::string worstName;              ///< of what
  double allowed = 1e-9;              ///< for people: `worst` times this is the difference
  bool discarded = false;             ///< numbers mean nothing: two experts were too near for a choice between them
};

/// Notes a difference; NaN is the worst there is.
void see(RunResult &result, const std::string &name, double partOfAllowed);

/// Of the plan @plan of `text`, in float64. ZeRO leaves parameters below `wholeBelow` bytes whole.
/// `broken`: an op of the dist dialect that does nothing in this run, to see that the comparison notices.
RunResult runFile(const std::string &text, uint64_t seed, int64_t steps, int64_t wholeBelow,
                  const std::string &broken = "");

/// The same by `hocket compile` and `hocket-run`, in float32, in a folder of its own; the one rank is still the
/// interpreter's, in float64. Limits: Executable.cpp.
RunResult runExecutable(const std::string &text, const std::string &folder, int64_t steps);

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
  std::string folder; ///< of executables; empty: on the interpreter
  std::string broken; ///< as for runFile
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
