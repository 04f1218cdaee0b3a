// See CallLog.h.
#include "runtime/Comm/CallLog.h"
#include <cerrno>
#include <cstring>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace hocket::runtime {

namespace {
class Followed : public Communicator {
public:
  Followed(std::unique_ptr<Communicator> inner, CallLog &log)
      : Communicator(inner->group(), inner->rank()), inner(std::move(inner)), log(log) {}

  Status allReduce(const void *in, void *out, size_t count, ElementType type, Reduction reduction, When when) override {
    log.write(*this, "all_reduce", count, type, toString(reduction));
    return inner->allReduce(in, out, count, type, reduction, when);
  }
  Status reduceScatter(const void *in, void *out, size_t count, ElementType type, Reduction reduction,
                       When when) override {
    log.write(*this, "reduce_scatter", count, type, toString(reduction));
    return inner->reduceScatter(in, out, count, type, reduction, when);
  }
  Status allGather(const void *in, void *out, size_t count, ElementType type, When when) override {
    log.write(*this, "all_gather", count, type);
    return inner->allGather(in, out, count, type, when);
  }
  Status allToAll(const void *in, void *out, size_t count, ElementType type, When when) override {
    log.write(*this, "all_to_all", count, type);
    return inner->allToAll(in, out, count, type, when);
  }
  Status broadcast(void *buffer, size_t count, ElementType type, int root, When when) override {
    log.write(*this, "broadcast", count, type);
    return inner->broadcast(buffer, count, type, root, when);
  }
  Status barrier(When when) override { return inner->barrier(when); }
  Status shiftRing(const void *in, void *out, size_t count, ElementType type, When when) override {
    log.write(*this, "shift", count, type);
    return inner->shiftRing(in, out, count, type, when);
  }
  Result<std::unique_ptr<Request>> send(const void *data, size_t count, ElementType type, int peer,
                                        void *stream) override {
    log.write(*this, "send", count, type);
    return inner->send(data, count, type, peer, stream);
  }
  Result<std::unique_ptr<Request>> receive(void *data, size_t count, ElementType type, int peer,
                                           void *stream) override {
    log.write(*this, "receive", count, type);
    return inner->receive(data, count, type, peer, stream);
  }

private:
  std::unique_ptr<Communicator> inner;
  CallLog &log;
};
} // namespace

Result<std::unique_ptr<CallLog>> CallLog::create(const std::string &path) {
  std::FILE *file = std::fopen(path.c_str(), "w");
  if (!file)
    return Error{ErrorKind::Invalid, fmt::format("cannot write '{}': {}", path, std::strerror(errno)), {}};
  return std::unique_ptr<CallLog>(new CallLog(file, path));
}

CallLog::~CallLog() { std::fclose(file); }

std::unique_ptr<Communicator> CallLog::follow(std::unique_ptr<Communicator> communicator) {
  return std::make_unique<Followed>(std::move(communicator), *this);
}

// As a string of JSON: names of communicators hold quotes.
static std::string quoted(std::string_view text) {
  std::string result = "\"";
  for (char c : text)
    result += c == '"' || c == '\\' ? std::string{'\\', c} : std::string{c};
  return result + "\"";
}

void CallLog::write(const Communicator &on, std::string_view call, size_t count, ElementType type,
                    std::string_view reduction) {
  fmt::print(file,
             R"({{"call": "{}", "communicator": {}, "ranks": [{}], "count": {}, "type": "{}"{}{}}})"
             "\n",
             call, quoted(on.group().name), fmt::join(on.group().ranks, ", "), count, toString(type),
             reduction.empty() ? "" : fmt::format(R"(, "reduction": "{}")", reduction),
             within ? fmt::format(R"(, "group": {})", within) : "");
}

void CallLog::leftOut(uint64_t wait, std::string_view where) {
  fmt::print(file, "{{\"left_out\": {}, \"at\": {}}}\n", wait, quoted(where));
}

Status CallLog::pass(uint64_t step, uint64_t evaluation, std::string_view how, uint64_t waits) {
  groups = 0;
  fmt::print(file,
             R"({{"pass": "{}", "step": {}, "waits": {}{}}})"
             "\n",
             how, step, waits, evaluation ? fmt::format(R"(, "evaluation": {})", evaluation) : "");
  if (std::fflush(file) == 0)
    return {};
  return Error{ErrorKind::Invalid, fmt::format("cannot write '{}': {}", path, std::strerror(errno)), {}};
}

} // namespace hocket::runtime
