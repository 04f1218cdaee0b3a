// The CUDA driver (libcuda.so.1), as far as it is used. Types and constants are declared here, so that no CUDA toolkit
// is needed to build; a test compares them with cuda.h where there is one.
#ifndef HOCKET_RUNTIME_DEVICE_CUDA_DRIVER_H
#define HOCKET_RUNTIME_DEVICE_CUDA_DRIVER_H

#include "runtime/Device/Cuda/Library.h"
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace hocket::runtime::cuda {

using DevicePointer = unsigned long long; // CUdeviceptr
using Handle = void *;                    // CUcontext, CUmodule, CUfunction, CUstream, CUevent, CUgraph, CUgraphExec
using DeviceNumber = int;                 // CUdevice

enum Outcome : int { success = 0, outOfMemory = 2, noDevice = 100, notReady = 600 }; // CUresult
inline constexpr unsigned streamNonBlocking = 1, eventDisableTiming = 2, hostPortable = 1;
inline constexpr int captureRelaxed = 2; // CUstreamCaptureMode
inline constexpr int attributeMajor = 75, attributeMinor = 76, functionMostDynamicShared = 8;

// PTX 8.0, which programs carry for GPUs newer than their cubins.
inline constexpr int leastDriver = 12000;

#define HOCKET_DRIVER_FUNCTIONS(X)                                                                                     \
  X(init, "cuInit", int(unsigned))                                                                                     \
  X(driverGetVersion, "cuDriverGetVersion", int(int *))                                                                \
  X(getErrorName, "cuGetErrorName", int(int, const char **))                                                           \
  X(getErrorString, "cuGetErrorString", int(int, const char **))                                                       \
  X(deviceGetCount, "cuDeviceGetCount", int(int *))                                                                    \
  X(deviceGet, "cuDeviceGet", int(DeviceNumber *, int))                                                                \
  X(deviceGetName, "cuDeviceGetName", int(char *, int, DeviceNumber))                                                  \
  X(deviceGetAttribute, "cuDeviceGetAttribute", int(int *, int, DeviceNumber))                                         \
  X(primaryContextRetain, "cuDevicePrimaryCtxRetain", int(Handle *, DeviceNumber))                                     \
  X(primaryContextRelease, "cuDevicePrimaryCtxRelease_v2", int(DeviceNumber))                                          \
  X(contextSetCurrent, "cuCtxSetCurrent", int(Handle))                                                                 \
  X(memoryAllocate, "cuMemAlloc_v2", int(DevicePointer *, size_t))                                                     \
  X(memoryFree, "cuMemFree_v2", int(DevicePointer))                                                                    \
  X(memorySet, "cuMemsetD8_v2", int(DevicePointer, unsigned char, size_t))                                             \
  X(memorySetAsync, "cuMemsetD8Async", int(DevicePointer, unsigned char, size_t, Handle))                              \
  X(memorySetWords, "cuMemsetD32Async", int(DevicePointer, unsigned, size_t, Handle))                                  \
  X(hostAllocate, "cuMemHostAlloc", int(void **, size_t, unsigned))                                                    \
  X(hostFree, "cuMemFreeHost", int(void *))                                                                            \
  X(memoryCopyAsync, "cuMemcpyAsync", int(DevicePointer, DevicePointer, size_t, Handle))                               \
  X(moduleLoadData, "cuModuleLoadData", int(Handle *, const void *))                                                   \
  X(moduleUnload, "cuModuleUnload", int(Handle))                                                                       \
  X(moduleGetFunction, "cuModuleGetFunction", int(Handle *, Handle, const char *))                                     \
  X(functionSetAttribute, "cuFuncSetAttribute", int(Handle, int, int))                                                 \
  X(launchKernel, "cuLaunchKernel",                                                                                    \
    int(Handle, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, Handle, void **, void **))       \
  X(streamCreate, "cuStreamCreate", int(Handle *, unsigned))                                                           \
  X(streamDestroy, "cuStreamDestroy_v2", int(Handle))                                                                  \
  X(streamSynchronize, "cuStreamSynchronize", int(Handle))                                                             \
  X(streamWaitEvent, "cuStreamWaitEvent", int(Handle, Handle, unsigned))                                               \
  X(eventCreate, "cuEventCreate", int(Handle *, unsigned))                                                             \
  X(eventDestroy, "cuEventDestroy_v2", int(Handle))                                                                    \
  X(eventRecord, "cuEventRecord", int(Handle, Handle))                                                                 \
  X(eventQuery, "cuEventQuery", int(Handle))                                                                           \
  X(eventElapsed, "cuEventElapsedTime", int(float *, Handle, Handle))                                                  \
  X(captureBegin, "cuStreamBeginCapture_v2", int(Handle, int))                                                         \
  X(captureEnd, "cuStreamEndCapture", int(Handle, Handle *))                                                           \
  X(graphInstantiate, "cuGraphInstantiateWithFlags", int(Handle *, Handle, unsigned long long))                        \
  X(graphLaunch, "cuGraphLaunch", int(Handle, Handle))                                                                 \
  X(graphDestroy, "cuGraphDestroy", int(Handle))                                                                       \
  X(graphExecDestroy, "cuGraphExecDestroy", int(Handle))

struct Driver {
  HOCKET_DRIVER_FUNCTIONS(HOCKET_FIELD)

  // Opens the driver, checks its version (leastDriver) and starts it. Lacking, with what is needed, where that fails.
  static Result<Driver> open(const char *file = "libcuda.so.1");
  static std::vector<std::string> symbols();
  // Success, or "cuMemAlloc_v2: out of memory (CUDA_ERROR_OUT_OF_MEMORY)".
  Status check(int outcome, std::string_view call) const;
};

} // namespace hocket::runtime::cuda
#endif
