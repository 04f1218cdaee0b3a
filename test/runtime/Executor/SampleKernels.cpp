// The kernels of the sample program (test/runtime/Program/SampleProgram.h) in plain C++, with the faults that the tests
// of the launcher ask for in SAMPLE_FAULT=KIND:RANK:STEP, KIND one of kill, stop, hang, exit, nan; they strike in the
// forward of the second microbatch of that step.
#include "SampleProgram.h"
#include "runtime/Executor/RankContext.h"
#include "runtime/Executor/RunOptions.h"
#include <atomic>
#include <cmath>
#include <csignal>
#include <cstring>
#include <limits>
#include <unistd.h>

using namespace hocket;

template <class T> static T *at(void *const *buffers, int index) { return static_cast<T *>(buffers[index]); }

static std::atomic<int> beginsSeen, forwardsSeen;

static bool strikes(const char *kind) {
  const char *fault = std::getenv("SAMPLE_FAULT");
  if (!fault || std::strncmp(fault, kind, std::strlen(kind)) != 0)
    return false;
  int rank = 0, step = 0;
  if (std::sscanf(fault + std::strlen(kind), ":%d:%d", &rank, &step) != 2)
    return false;
  auto options = runtime::RunOptions::fromEnvironment();
  const char *ofMpi = std::getenv("OMPI_COMM_WORLD_RANK");
  int own = options ? options->rank : ofMpi ? std::atoi(ofMpi) : -1;
  return own == rank && beginsSeen == step && forwardsSeen == 2;
}

static void forwardBegins() {
  ++forwardsSeen;
  if (strikes("kill"))
    ::raise(SIGKILL);
  if (strikes("stop"))
    ::raise(SIGSTOP);
  if (strikes("exit"))
    ::_exit(7);
  while (strikes("hang"))
    ::usleep(1000);
}

static void stepBegins() {
  ++beginsSeen;
  forwardsSeen = 0;
}

extern "C" {
void sample_begin0(void *const *buffers, const int64_t *, int64_t, int64_t) {
  stepBegins();
  std::memset(buffers[0], 0, 24);
  std::memset(buffers[1], 0, 8);
}

void sample_begin1(void *const *buffers, const int64_t *, int64_t, int64_t) {
  stepBegins();
  std::memset(buffers[0], 0, 4);
  std::memset(buffers[1], 0, 8);
}

// One tile per row of the microbatch.
void sample_forward0(void *const *buffers, const int64_t *, int64_t begin, int64_t end) {
  if (begin == 0)
    forwardBegins();
  for (int64_t i = begin * sample::sequence; i < end * static_cast<int64_t>(sample::sequence); ++i)
    at<float>(buffers, 2)[i] = at<float>(buffers, 1)[at<int32_t>(buffers, 0)[i]];
}

void sample_forward1(void *const *buffers, const int64_t *, int64_t, int64_t) {
  forwardBegins();
  float *sums = at<float>(buffers, 3);
  for (uint64_t i = 0; i < sample::cells; ++i)
    sums[0] += at<float>(buffers, 2)[0] * at<float>(buffers, 0)[i] * static_cast<float>(at<int32_t>(buffers, 1)[i]);
  sums[1] += sample::cells;
  if (strikes("nan"))
    sums[0] = std::numeric_limits<float>::quiet_NaN();
}

void sample_backward0(void *const *buffers, const int64_t *, int64_t, int64_t) {
  for (uint64_t i = 0; i < sample::cells; ++i)
    at<float>(buffers, 2)[at<int32_t>(buffers, 0)[i]] += at<float>(buffers, 1)[i];
}

void sample_backward1(void *const *buffers, const int64_t *, int64_t, int64_t) {
  for (uint64_t i = 0; i < sample::cells; ++i) {
    auto next = static_cast<float>(at<int32_t>(buffers, 1)[i]);
    at<float>(buffers, 3)[0] += at<float>(buffers, 0)[i] * next;
    at<float>(buffers, 4)[i] = at<float>(buffers, 2)[0] * next;
  }
}

// scalars: offset and extent of this rank's shard of w. The shard of dw becomes the shard of the new w.
void sample_update0(void *const *buffers, const int64_t *scalars, int64_t, int64_t) {
  float *w = at<float>(buffers, 0), *piece = at<float>(buffers, 1), *moment = at<float>(buffers, 2);
  float count = at<float>(buffers, 3)[1];
  for (int64_t i = 0; i < scalars[1]; ++i) {
    moment[i] += piece[i];
    piece[i] = w[scalars[0] + i] - sample::rate * piece[i] / count;
  }
}

void sample_update1(void *const *buffers, const int64_t *, int64_t, int64_t) {
  at<float>(buffers, 0)[0] -= sample::rate * at<float>(buffers, 1)[0] / at<float>(buffers, 2)[1];
}

void sample_finish(void *const *buffers, const int64_t *, int64_t, int64_t) {
  const float *sums = at<float>(buffers, 0);
  at<float>(buffers, 1)[0] = sums[0] / sums[1];
  at<int64_t>(buffers, 2)[0] = static_cast<int64_t>(sums[1]);
}

extern const runtime::KernelEntry hocket_kernels[] = {{"sample_begin0", reinterpret_cast<void *>(sample_begin0)},
                                                      {"sample_begin1", reinterpret_cast<void *>(sample_begin1)},
                                                      {"sample_forward0", reinterpret_cast<void *>(sample_forward0)},
                                                      {"sample_forward1", reinterpret_cast<void *>(sample_forward1)},
                                                      {"sample_backward0", reinterpret_cast<void *>(sample_backward0)},
                                                      {"sample_backward1", reinterpret_cast<void *>(sample_backward1)},
                                                      {"sample_update0", reinterpret_cast<void *>(sample_update0)},
                                                      {"sample_update1", reinterpret_cast<void *>(sample_update1)},
                                                      {"sample_finish", reinterpret_cast<void *>(sample_finish)}};
extern const uint64_t hocket_kernel_count = std::size(hocket_kernels);
}
