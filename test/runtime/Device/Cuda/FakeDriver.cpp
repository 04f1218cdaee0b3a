// A driver made of the host, for tests: memory is malloc's, work is done when it is queued, one GPU. A module knows one
// kernel, "scale". What the real driver refuses and its clients must not do, it counts as misuse and answers with 1.
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <new>
#include <vector>

#ifndef FAKE_DRIVER_VERSION
#define FAKE_DRIVER_VERSION 13000
#endif

using Handle = void *;
using Pointer = unsigned long long;
static int synchronized = 0;      // how often
static uint32_t leave = 48 << 10; // dynamic shared memory that "scale" may have

enum : int { captureUnsupported = 900, captureUnjoined = 904, captureIsolation = 905 };
using FakeGraph = std::vector<std::function<void()>>;
struct FakeStream;
struct FakeCapture {
  FakeGraph work;
  std::vector<FakeStream *> streams; // the first one began it
};
struct FakeStream {
  std::shared_ptr<FakeCapture> capture;
  size_t work = 0, joined = 0; // pieces captured; those that the first stream has waited for
};
struct FakeEvent {
  unsigned flags;
  int recorded = 0;
  std::shared_ptr<FakeCapture> capture;
  FakeStream *stream = nullptr;
  size_t work = 0, number = 0;
};
static size_t events = 0; // recorded

static int doOn(Handle on, std::function<void()> work) {
  auto &stream = *static_cast<FakeStream *>(on);
  if (!stream.capture)
    return work(), 0;
  ++stream.work;
  stream.capture->work.push_back(std::move(work));
  return 0;
}

extern "C" {
int cuInit(unsigned) {
#ifdef FAKE_NO_DEVICE
  return 100;
#endif
  return 0;
}
int cuDriverGetVersion(int *version) { return *version = FAKE_DRIVER_VERSION, 0; }
int cuGetErrorName(int outcome, const char **text) {
  return *text = outcome == 1 ? "CUDA_ERROR_INVALID_VALUE" : "CUDA_ERROR", 0;
}
int cuGetErrorString(int outcome, const char **text) {
  return *text = outcome == 1 ? "invalid argument" : "another error", 0;
}
int cuDeviceGetCount(int *count) { return *count = 1, 0; }
int cuDeviceGet(int *device, int ordinal) { return *device = ordinal, 0; }
int cuDeviceGetName(char *name, int, int) { return std::strcpy(name, "Fake GPU"), 0; }
int cuDeviceGetAttribute(int *value, int attribute, int) {
#ifdef FAKE_OLD_GPU
  return *value = attribute == 75 ? 7 : 0, 0;
#else
  return *value = attribute == 75 ? 9 : 0, 0;
#endif
}
int cuDevicePrimaryCtxRetain(Handle *context, int) { return *context = &leave, 0; }
int cuDevicePrimaryCtxRelease_v2(int) { return 0; }
int cuCtxSetCurrent(Handle) { return 0; }
int cuMemAlloc_v2(Pointer *memory, size_t bytes) {
  if (bytes > size_t(1) << 40)
    return 2;
  void *made = std::aligned_alloc(256, (bytes + 255) / 256 * 256);
  if (!made)
    return 2;
  std::memset(made, 0xAB, bytes);
  return *memory = reinterpret_cast<Pointer>(made), 0;
}
int cuMemFree_v2(Pointer memory) { return std::free(reinterpret_cast<void *>(memory)), 0; }
int cuMemsetD8_v2(Pointer memory, unsigned char value, size_t bytes) {
  return std::memset(reinterpret_cast<void *>(memory), value, bytes), 0;
}
int cuMemsetD8Async(Pointer memory, unsigned char value, size_t bytes, Handle stream) {
  return doOn(stream, [=] { cuMemsetD8_v2(memory, value, bytes); });
}
int cuMemcpyAsync(Pointer to, Pointer from, size_t bytes, Handle stream) {
  return doOn(stream, [=] { std::memmove(reinterpret_cast<void *>(to), reinterpret_cast<const void *>(from), bytes); });
}
int cuMemsetD32Async(Pointer memory, unsigned value, size_t count, Handle stream) {
  return doOn(stream, [=] {
    for (size_t i = 0; i < count; ++i)
      reinterpret_cast<unsigned *>(memory)[i] = value;
  });
}
int cuMemHostAlloc(void **memory, size_t bytes, unsigned flags) {
  Pointer made = 0;
  int outcome = flags == 1 ? cuMemAlloc_v2(&made, bytes) : 1;
  return *memory = reinterpret_cast<void *>(made), outcome;
}
int cuMemFreeHost(void *memory) { return std::free(memory), 0; }
int cuModuleLoadData(Handle *module, const void *image) {
  if (std::strcmp(static_cast<const char *>(image), "code") != 0)
    return 1;
  return *module = new int(), 0;
}
int cuModuleUnload(Handle module) { return delete static_cast<int *>(module), 0; }
int cuModuleGetFunction(Handle *function, Handle, const char *name) {
  return *function = &leave, std::strcmp(name, "scale") ? 1 : 0;
}
int cuFuncSetAttribute(Handle, int attribute, int value) {
  return leave = static_cast<uint32_t>(value), attribute != 8;
}
int cuLaunchKernel(Handle, unsigned gridX, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned sharedBytes,
                   Handle stream, void **arguments, void **extra) {
  if (sharedBytes > leave || extra)
    return 1;
  auto *from = *static_cast<const int64_t **>(arguments[0]);
  auto *to = *static_cast<int64_t **>(arguments[1]);
  int64_t factor = *static_cast<int64_t *>(arguments[2]);
  return doOn(stream, [=] {
    for (unsigned i = 0; i < gridX; ++i)
      to[i] = from[i] * factor;
  });
}
int cuStreamCreate(Handle *stream, unsigned) { return *stream = new FakeStream(), 0; }
int cuStreamDestroy_v2(Handle stream) { return delete static_cast<FakeStream *>(stream), 0; }
int cuStreamSynchronize(Handle stream) {
  ++synchronized;
  return static_cast<FakeStream *>(stream)->capture ? captureUnsupported : 0;
}
int cuStreamWaitEvent(Handle waiting, Handle awaited, unsigned) {
  auto &stream = *static_cast<FakeStream *>(waiting);
  auto &event = *static_cast<FakeEvent *>(awaited);
  if (!event.capture)
    return stream.capture ? captureIsolation : 0;
  if (!stream.capture) {
    stream.capture = event.capture;
    event.capture->streams.push_back(&stream);
  }
  if (stream.capture->streams[0] == &stream)
    event.stream->joined = event.work;
  return 0;
}
int cuEventCreate(Handle *event, unsigned flags) { return *event = new FakeEvent{flags}, 0; }
int cuEventDestroy_v2(Handle event) { return delete static_cast<FakeEvent *>(event), 0; }
int cuEventRecord(Handle recorded, Handle on) {
  auto &event = *static_cast<FakeEvent *>(recorded);
  auto &stream = *static_cast<FakeStream *>(on);
  event.recorded = synchronized + 1;
  event.capture = stream.capture;
  event.stream = &stream;
  event.work = stream.work;
  event.number = ++events;
  return 0;
}
// A recorded event is not ready when it is asked for the first time, unless its stream was waited for.
int cuEventQuery(Handle asked) {
  int &recorded = static_cast<FakeEvent *>(asked)->recorded;
  bool ready = recorded != synchronized + 1;
  recorded = 0;
  return ready ? 0 : 600;
}
int cuEventElapsedTime(float *milliseconds, Handle since, Handle until) {
  auto &from = *static_cast<FakeEvent *>(since), &to = *static_cast<FakeEvent *>(until);
  *milliseconds = static_cast<float>(to.number - from.number);
  return from.flags || to.flags; // made without times
}
int cuStreamBeginCapture_v2(Handle stream, int mode) {
  auto &origin = *static_cast<FakeStream *>(stream);
  if (mode != 2 || origin.capture)
    return 1;
  origin.capture = std::make_shared<FakeCapture>();
  origin.capture->streams.push_back(&origin);
  return 0;
}
int cuStreamEndCapture(Handle stream, Handle *graph) {
  std::shared_ptr<FakeCapture> capture = static_cast<FakeStream *>(stream)->capture;
  if (!capture)
    return 1;
  int outcome = 0;
  for (FakeStream *of : capture->streams) {
    if (of != stream && of->joined != of->work)
      outcome = captureUnjoined;
    of->capture = nullptr;
    of->work = of->joined = 0;
  }
  return *graph = outcome ? nullptr : new FakeGraph(capture->work), outcome;
}
int cuGraphInstantiateWithFlags(Handle *made, Handle graph, unsigned long long flags) {
  return *made = new FakeGraph(*static_cast<FakeGraph *>(graph)), flags != 0;
}
int cuGraphLaunch(Handle graph, Handle) {
  for (const std::function<void()> &work : *static_cast<FakeGraph *>(graph))
    work();
  return 0;
}
int cuGraphDestroy(Handle graph) { return delete static_cast<FakeGraph *>(graph), 0; }
int cuGraphExecDestroy(Handle graph) { return delete static_cast<FakeGraph *>(graph), 0; }
}
