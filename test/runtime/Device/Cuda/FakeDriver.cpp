// A driver made of the host, for tests: memory is malloc's, work is done when it is queued, one GPU. A module knows one
// kernel, "scale". What the real driver refuses and its clients must not do, it counts as misuse and answers with 1.
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>

#ifndef FAKE_DRIVER_VERSION
#define FAKE_DRIVER_VERSION 13000
#endif

using Handle = void *;
using Pointer = unsigned long long;
static int synchronized = 0;      // how often
static uint32_t leave = 48 << 10; // dynamic shared memory that "scale" may have

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
int cuMemsetD8Async(Pointer memory, unsigned char value, size_t bytes, Handle) {
  return cuMemsetD8_v2(memory, value, bytes);
}
int cuMemcpyAsync(Pointer to, Pointer from, size_t bytes, Handle) {
  return std::memmove(reinterpret_cast<void *>(to), reinterpret_cast<const void *>(from), bytes), 0;
}
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
                   Handle, void **arguments, void **extra) {
  if (sharedBytes > leave || extra)
    return 1;
  auto *from = *static_cast<const int64_t **>(arguments[0]);
  auto *to = *static_cast<int64_t **>(arguments[1]);
  for (unsigned i = 0; i < gridX; ++i)
    to[i] = from[i] * *static_cast<int64_t *>(arguments[2]);
  return 0;
}
int cuStreamCreate(Handle *stream, unsigned) { return *stream = new int(), 0; }
int cuStreamDestroy_v2(Handle stream) { return delete static_cast<int *>(stream), 0; }
int cuStreamSynchronize(Handle) { return ++synchronized, 0; }
int cuStreamWaitEvent(Handle, Handle, unsigned) { return 0; }
int cuEventCreate(Handle *event, unsigned) { return *event = new int(), 0; }
int cuEventDestroy_v2(Handle event) { return delete static_cast<int *>(event), 0; }
int cuEventRecord(Handle event, Handle) { return *static_cast<int *>(event) = synchronized + 1, 0; }
// A recorded event is not ready when it is asked for the first time, unless its stream was waited for.
int cuEventQuery(Handle event) {
  int &recorded = *static_cast<int *>(event);
  bool ready = recorded != synchronized + 1;
  recorded = 0;
  return ready ? 0 : 600;
}
}
