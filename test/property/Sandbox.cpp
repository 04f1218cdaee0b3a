// Each draw in a process of its own: a crash is a verdict, and so is a loop.
#include "test/property/Run.h"
#include <chrono>
#include <csignal>
#include <fmt/format.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

namespace hocket::property {
namespace {
constexpr unsigned mostSeconds = 300;
using Clock = std::chrono::steady_clock;

struct Child {
  pid_t pid;
  int pipe;
  size_t number;
  Work work;
  std::string said;
  Clock::time_point since;
};

/// The child's whole life: "came worst kind \0 text" into the pipe.
[[noreturn]] void live(const Work &work, int pipe) {
  alarm(mostSeconds);
  RunResult result = work.folder.empty() ? runFile(work.text, work.seed, work.steps, work.wholeBelow, work.broken)
                                         : runExecutable(work.text, work.folder, work.steps);
  Verdict verdict = judge(work.owed, result);
  Came came = !verdict.kind.empty()      ? Came::Faulty
              : result.discarded         ? Came::Discarded
              : result.refusedBy.empty() ? Came::Right
                                         : Came::Refused;
  std::string said = fmt::format("{}{:a}\n{}\n{}", static_cast<char>(came), result.worst, verdict.kind, verdict.text);
  for (size_t at = 0; at < said.size();) {
    ssize_t written = write(pipe, said.data() + at, said.size() - at);
    if (written <= 0)
      break;
    at += static_cast<size_t>(written);
  }
  _exit(0);
}

Child start(size_t number, Work work) {
  int ends[2];
  if (pipe(ends) != 0) {
    perror("pipe");
    exit(3);
  }
  fflush(nullptr);
  pid_t pid = fork();
  if (pid < 0) {
    perror("fork");
    exit(3);
  }
  if (pid == 0) {
    close(ends[0]);
    live(work, ends[1]);
  }
  close(ends[1]);
  return {pid, ends[0], number, std::move(work), "", Clock::now()};
}

Outcome end(Child &child) {
  Outcome outcome;
  int status = 0;
  close(child.pipe);
  waitpid(child.pid, &status, 0);
  outcome.seconds = std::chrono::duration<double>(Clock::now() - child.since).count();
  if (WIFSIGNALED(status)) {
    bool late = WTERMSIG(status) == SIGALRM;
    outcome.verdict = {late ? "does not end" : "crash", late ? fmt::format("not done after {} s", mostSeconds)
                                                             : fmt::format("killed by signal {}", WTERMSIG(status))};
    return outcome;
  }
  size_t first = child.said.find('\n'), second = child.said.find('\n', first + 1);
  if (WEXITSTATUS(status) != 0 || second == std::string::npos) {
    outcome.verdict = {"crash", fmt::format("exit status {}", WEXITSTATUS(status))};
    return outcome;
  }
  outcome.came = static_cast<Came>(child.said[0]);
  outcome.worst = std::stod(child.said.substr(1, first - 1));
  outcome.verdict = {child.said.substr(first + 1, second - first - 1), child.said.substr(second + 1)};
  return outcome;
}
} // namespace

void runAll(int jobs, const std::function<std::optional<Work>()> &next,
            const std::function<void(size_t, const Work &, const Outcome &)> &done) {
  std::vector<Child> children;
  size_t number = 0;
  for (bool more = true;;) {
    while (more && children.size() < static_cast<size_t>(jobs)) {
      std::optional<Work> work = next();
      more = work.has_value();
      if (more)
        children.push_back(start(number++, std::move(*work)));
    }
    if (children.empty())
      break;
    std::vector<pollfd> ends;
    for (const Child &child : children)
      ends.push_back({child.pipe, POLLIN, 0});
    if (poll(ends.data(), ends.size(), -1) < 0)
      continue;
    for (size_t i = ends.size(); i-- > 0;) {
      if (!ends[i].revents)
        continue;
      char buffer[4096];
      ssize_t count = read(children[i].pipe, buffer, sizeof buffer);
      if (count > 0) {
        children[i].said.append(buffer, static_cast<size_t>(count));
        continue;
      }
      Outcome outcome = end(children[i]);
      Child child = std::move(children[i]);
      children.erase(children.begin() + static_cast<ptrdiff_t>(i));
      done(child.number, child.work, outcome);
      more = true; // what is done may ask for more
    }
  }
}

Outcome runOne(const Work &work) {
  Outcome outcome;
  bool given = false;
  runAll(
      1, [&]() -> std::optional<Work> { return std::exchange(given, true) ? std::nullopt : std::optional(work); },
      [&](size_t, const Work &, const Outcome &came) { outcome = came; });
  return outcome;
}
} // namespace hocket::property
