// The progress line and the metrics file, fed with the events that rank 0 reports.
#ifndef HOCKET_RUNTIME_LAUNCH_PROGRESS_H
#define HOCKET_RUNTIME_LAUNCH_PROGRESS_H

#include "runtime/Program/Result.h"
#include <chrono>
#include <cstdio>
#include <fmt/format.h>
#include <fstream>
#include <nlohmann/json_fwd.hpp>
#include <optional>

namespace hocket::run {

// To standard output. A run goes on where that takes no more: what it says is lost, what it learns is not.
template <class... Args> void say(fmt::format_string<Args...> text, Args &&...args) {
  std::fputs(fmt::format(text, std::forward<Args>(args)...).c_str(), stdout);
}

class Progress {
public:
  // Opens the metrics file (empty: none) for writing. Of a run that goes on from a checkpoint it is one more file to go
  // on with: its lines up to the checkpoint's step stay, those after it are made again.
  runtime::Status open(const std::string &metricsPath, uint64_t steps, bool goesOn);

  // An event of rank 0, by its kind; false for one that is not shown.
  bool show(const nlohmann::json &event);
  // {"event":"step","step":…,"loss":…,"grad_norm":…,"lr":…,"tokens":…,"seconds":…}, and with a loss scale
  // "loss_scale":…,"skipped":…: a metrics line with the same keys, and a progress line: always on a terminal, otherwise
  // for the first and last step and once a second.
  void step(const nlohmann::json &event);
  // {"event":"eval","step":…,"eval_loss":…,"eval_tokens":…,"eval_seconds":…}: a metrics line with the same keys, and a
  // line of progress that stays.
  void evaluation(const nlohmann::json &event);
  // {"event":"resumed","step":…}: the run goes on after this step. {"event":"saved","step":…}: a checkpoint is whole.
  void resumed(uint64_t step);
  std::optional<uint64_t> savedStep() const { return saved; } // the last
  // Ends the progress line.
  void finish();
  uint64_t lastStep() const { return last; }
  // Whether the last step, and if there are evaluations the one behind it, are done.
  bool complete(bool evaluates) const { return last >= steps && (!evaluates || evaluated == last); }
  // An error if a line of metrics could not be written.
  runtime::Status written() const;

private:
  void print(const nlohmann::json &event);
  void write(const nlohmann::json &event, std::initializer_list<const char *> keys);
  std::string path, lost; // lost: the first line that could not be written, and why
  std::ofstream metrics;
  uint64_t steps = 0, last = 0;
  std::optional<uint64_t> saved, evaluated; // the last steps
  double smoothSeconds = 0;                 // of a step
  bool terminal = false, openLine = false;
  std::chrono::steady_clock::time_point printed;
};

} // namespace hocket::run
#endif
