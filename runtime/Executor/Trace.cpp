// Chrome's trace event format: "X" complete events in microseconds, "M" names of processes and threads.
#include "runtime/Executor/Trace.h"
#include <cerrno>
#include <cstring>
#include <ctime>
#include <fmt/format.h>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>
#include <unistd.h>

namespace hocket::runtime {

static Error cannotWrite(const std::string &path) {
  ErrorKind kind = errno == ENOSPC || errno == EDQUOT || errno == EIO ? ErrorKind::Lacking : ErrorKind::Invalid;
  return {kind, fmt::format("cannot write trace '{}': {}", path, std::strerror(errno)), {}};
}

double Trace::processorMicroseconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return 1e6 * static_cast<double>(time.tv_sec) + 1e-3 * static_cast<double>(time.tv_nsec);
}

static double microseconds(Trace::Time::duration duration) {
  return std::chrono::duration<double, std::micro>(duration).count();
}

Status Trace::write(const std::string &path, int rank, const std::string &coordinates,
                    const std::vector<std::string> &streams, const std::vector<std::string> &bodyStreams) const {
  std::ofstream out(path);
  auto name = [&](const char *kind, size_t thread, const std::string &value) {
    out << nlohmann::json{{"ph", "M"}, {"pid", rank}, {"tid", thread}, {"name", kind}, {"args", {{"name", value}}}}
               .dump()
        << ",\n";
  };
  name("process_name", 0, fmt::format("rank {} ({})", rank, coordinates));
  char host[256] = {};
  gethostname(host, sizeof(host) - 1);
  out << nlohmann::json{{"ph", "M"},
                        {"pid", rank},
                        {"tid", 0},
                        {"name", "machine"},
                        {"args", {{"name", host}, {"processors", std::thread::hardware_concurrency()}}}}
             .dump()
      << ",\n";
  for (size_t i = 0; i < streams.size(); ++i)
    name("thread_name", i, streams[i]);
  for (size_t i = 0; i < bodyStreams.size(); ++i)
    name("thread_name", firstBodyStream + i, bodyStreams[i]);
  for (const Event &event : events)
    out << nlohmann::json{{"ph", "X"},
                          {"pid", rank},
                          {"tid", event.stream},
                          {"name", event.name},
                          {"ts", microseconds(event.begin.time_since_epoch())},
                          {"dur", microseconds(event.end - event.begin)},
                          {"tdur", event.processorMicroseconds},
                          {"args", {{"step", event.step}, {"microbatch", event.microbatch}}}}
               .dump()
        << ",\n";
  out.close();
  return out ? Status() : cannotWrite(path);
}

Status Trace::merge(const std::string &path, const std::vector<std::string> &parts) {
  std::ofstream out(path);
  out << "{\"displayTimeUnit\": \"ms\", \"traceEvents\": [\n";
  for (const std::string &part : parts) {
    std::ifstream in(part);
    if (in && in.peek() != std::ifstream::traits_type::eof())
      out << in.rdbuf();
    std::remove(part.c_str());
  }
  // Every line ends with a comma; this event has no meaning but to end the list.
  out << nlohmann::json{{"ph", "M"}, {"pid", 0}, {"name", "trace_end"}}.dump() << "\n]}\n";
  out.close();
  return out ? Status() : cannotWrite(path);
}

} // namespace hocket::runtime
