// Progress and metrics; contracts in Progress.h.
#include "runtime/Launch/Progress.h"
#include "runtime/Launch/MetricsFile.h"
#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

namespace hocket::run {

runtime::Status Progress::open(const std::string &metricsPath, uint64_t total, bool goesOn) {
  steps = total;
  terminal = ::isatty(STDOUT_FILENO);
  path = metricsPath;
  if (path.empty())
    return {};
  if (goesOn)
    if (runtime::Result<uint64_t> sound = metricsUpTo(path, UINT64_MAX); !sound)
      return std::move(sound.error());
  metrics.open(path, goesOn ? std::ios::app : std::ios::out);
  if (!metrics)
    return runtime::Error{
        runtime::ErrorKind::Invalid, fmt::format("cannot write metrics file '{}': {}", path, std::strerror(errno)), {}};
  return {};
}

void Progress::resumed(uint64_t step) {
  last = step;
  say("goes on after step {}\n", step);
  if (!metrics.is_open())
    return;
  runtime::Result<uint64_t> bytes = metricsUpTo(path, step);
  std::error_code error;
  if (bytes)
    std::filesystem::resize_file(path, *bytes, error); // what is appended next begins there
  if (!bytes || error)
    lost = bytes ? fmt::format("cannot shorten metrics file '{}': {}", path, error.message()) : bytes.error().message;
}

bool Progress::show(const nlohmann::json &event) {
  if (event.at("event") == "step")
    step(event);
  else if (event.at("event") == "eval")
    evaluation(event);
  else if (event.at("event") == "resumed")
    resumed(event.at("step").get<uint64_t>());
  else if (event.at("event") == "saved")
    saved = event.at("step").get<uint64_t>();
  else
    return false;
  return true;
}

// A line of metrics, in the order of the documentation; nlohmann prints the shortest text that reads back as the same
// double.
void Progress::write(const nlohmann::json &event, std::initializer_list<const char *> keys) {
  if (!metrics.is_open())
    return;
  nlohmann::ordered_json line;
  for (const char *key : keys)
    if (auto at = event.find(key); at != event.end()) // some depend on the program, some on who starts the ranks
      line[key] = *at;
  metrics << line.dump() << '\n' << std::flush;
  if (!metrics && lost.empty())
    lost = fmt::format("the metrics of step {} could not be written to '{}': {}", event.at("step").get<uint64_t>(),
                       path, std::strerror(errno));
}

static std::string lossText(const nlohmann::json &loss) {
  return loss.is_number() ? fmt::format("{:.4f}", loss.get<double>()) : "not finite";
}

void Progress::evaluation(const nlohmann::json &event) {
  evaluated = event.at("step").get<uint64_t>();
  write(event, {"step", "eval_loss", "eval_tokens", "eval_seconds"});
  finish();
  uint64_t after = event.at("step").get<uint64_t>(); // of a resumed run that trains no further, more than `steps`
  say("evaluation after step {}/{}  loss {}  {} tokens in {:.1f} s\n", after, std::max(after, steps),
      lossText(event.at("eval_loss")), event.at("eval_tokens").get<uint64_t>(), event.at("eval_seconds").get<double>());
  std::fflush(stdout);
}

void Progress::step(const nlohmann::json &event) {
  last = event.at("step").get<uint64_t>();
  write(event,
        {"step", "loss", "grad_norm", "lr", "tokens", "loss_scale", "skipped", "seconds", "tokens_per_second",
         "flops_per_second", "sent_bytes", "sent_bytes_max", "wait_seconds", "memory_bytes", "memory_bytes_max"});
  double seconds = event.at("seconds").get<double>();
  // The first step also touches all memory for the first time.
  smoothSeconds = last <= 2 || smoothSeconds == 0 ? seconds : 0.9 * smoothSeconds + 0.1 * seconds;
  auto now = std::chrono::steady_clock::now();
  if (!terminal && last != 1 && last != steps && now - printed < std::chrono::seconds(1))
    return;
  printed = now;
  print(event);
}

runtime::Status Progress::written() const {
  if (lost.empty())
    return {};
  return runtime::Error{runtime::ErrorKind::Lacking, lost, {}};
}

static std::string duration(double seconds) {
  auto whole = static_cast<uint64_t>(std::llround(seconds));
  if (whole >= 3600)
    return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
  return fmt::format("{}:{:02}", whole / 60, whole % 60);
}

// "  scale 32768", "  scale 65536 skipped"; nothing where there is no loss scale.
static std::string scaleText(const nlohmann::json &event) {
  if (!event.contains("loss_scale"))
    return "";
  return fmt::format("  scale {}{}", event.at("loss_scale").get<double>(),
                     event.value("skipped", false) ? " skipped" : "");
}

void Progress::print(const nlohmann::json &event) {
  std::string text =
      fmt::format("step {}/{}  loss {}{}  {:.0f} tokens/s  ETA {}", last, steps, lossText(event.at("loss")),
                  scaleText(event), event.at("tokens").get<double>() / event.at("seconds").get<double>(),
                  duration(static_cast<double>(steps - last) * smoothSeconds));
  if (terminal)
    say("\r\033[K{}", text);
  else
    say("{}\n", text);
  openLine = terminal;
  std::fflush(stdout);
}

void Progress::finish() {
  if (openLine)
    say("\n");
  openLine = false;
  std::fflush(stdout);
}

} // namespace hocket::run
