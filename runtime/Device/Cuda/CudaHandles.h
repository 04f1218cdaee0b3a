// Streams, events and graphs of the driver behind those of a device.
#ifndef HOCKET_RUNTIME_DEVICE_CUDA_CUDAHANDLES_H
#define HOCKET_RUNTIME_DEVICE_CUDA_CUDAHANDLES_H

#include "runtime/Device/Cuda/CudaDevice.h"

namespace hocket::runtime::cuda {

struct CudaStream : Stream {
  CudaStream(const Driver &driver, Handle stream) : driver(driver), stream(stream) {}
  ~CudaStream() override { driver.streamDestroy(stream); }
  void *handle() const override { return stream; }
  const Driver &driver;
  Handle stream;
};

struct CudaEvent : Event {
  CudaEvent(const Driver &driver, Handle event) : driver(driver), event(event) {}
  ~CudaEvent() override { driver.eventDestroy(event); }
  const Driver &driver;
  Handle event;
};

struct CudaGraph : Graph {
  CudaGraph(const Driver &driver, Handle graph) : driver(driver), graph(graph) {}
  ~CudaGraph() override { driver.graphExecDestroy(graph); }
  const Driver &driver;
  Handle graph;
};

} // namespace hocket::runtime::cuda
#endif
