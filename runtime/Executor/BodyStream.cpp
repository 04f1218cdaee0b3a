// See BodyStream.h.
#include "runtime/Executor/BodyStream.h"

namespace hocket::runtime {

BodyStream::BodyStream() : thread([this] { run(); }) {}

BodyStream::~BodyStream() {
  {
    std::lock_guard lock(mutex);
    closing = true;
  }
  queued.notify_one();
  thread.join();
}

void BodyStream::run() {
  std::unique_lock lock(mutex);
  for (;;) {
    queued.wait(lock, [this] { return closing || (!jobs.empty() && !failure); });
    if (closing)
      return;
    Job job = jobs.front();
    lock.unlock();
    Trace::Time begin = Trace::now();
    double processor = Trace::processorMicroseconds();
    Status status = job.work();
    Trace::Time end = Trace::now();
    processor = Trace::processorMicroseconds() - processor;
    lock.lock();
    if (!status) {
      failure = std::move(status.error());
    } else {
      jobs.pop_front();
      ++finishedJobs;
      ran.push_back({job.instruction, begin, end, processor});
    }
    done.notify_one();
  }
}

void BodyStream::start(uint32_t instruction, std::function<Status()> work) {
  {
    std::lock_guard lock(mutex);
    jobs.push_back({instruction, std::move(work)});
  }
  queued.notify_one();
}

void BodyStream::beginBody() {
  std::lock_guard lock(mutex);
  finishedJobs = 0;
  ran.clear();
}

BodyStream::State BodyStream::finished(uint32_t count, std::chrono::microseconds most) {
  std::unique_lock lock(mutex);
  bool over = done.wait_for(lock, most, [&] { return failure || finishedJobs >= count; });
  return failure ? State::Failed : over ? State::Finished : State::Waiting;
}

Error BodyStream::error() {
  std::lock_guard lock(mutex);
  return *failure;
}

std::optional<uint32_t> BodyStream::current() {
  std::lock_guard lock(mutex);
  return jobs.empty() ? std::nullopt : std::optional(jobs.front().instruction);
}

bool BodyStream::busy() {
  std::lock_guard lock(mutex);
  return !jobs.empty() && !failure;
}

std::vector<BodyStream::Ran> BodyStream::take() {
  std::lock_guard lock(mutex);
  return std::move(ran);
}

} // namespace hocket::runtime
