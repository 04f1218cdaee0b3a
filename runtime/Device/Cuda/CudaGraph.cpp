// Graphs of the driver, and which of a kernel's pieces of code a GPU loads.
#include "runtime/Device/Cuda/CudaHandles.h"

namespace hocket::runtime::cuda {

// sm_90 runs on every 9.x, sm_86 on 8.6 and 8.9: binary code is for the minor revisions from its own on.
std::string_view CudaDevice::loadable(const KernelCode &code) const {
  int best = 0;
  std::string_view found = code.ptx;
  for (auto [architecture, cubin] : code.cubins)
    if (architecture / 10 == computeCapability / 10 && architecture <= computeCapability && architecture > best) {
      best = architecture;
      found = cubin;
    }
  return found;
}

Status CudaDevice::beginCapture(Stream &stream) {
  return driver.check(driver.captureBegin(stream.handle(), captureRelaxed), "cuStreamBeginCapture");
}

Result<std::unique_ptr<Graph>> CudaDevice::endCapture(Stream &stream) {
  Handle captured = nullptr, made = nullptr;
  if (Status ended = driver.check(driver.captureEnd(stream.handle(), &captured), "cuStreamEndCapture"); !ended)
    return std::move(ended.error());
  int outcome = driver.graphInstantiate(&made, captured, 0);
  driver.graphDestroy(captured);
  if (Status instantiated = driver.check(outcome, "cuGraphInstantiate"); !instantiated)
    return std::move(instantiated.error());
  return std::unique_ptr<Graph>(std::make_unique<CudaGraph>(driver, made));
}

Status CudaDevice::launch(Stream &stream, Graph &graph) {
  return driver.check(driver.graphLaunch(static_cast<CudaGraph &>(graph).graph, stream.handle()), "cuGraphLaunch");
}

} // namespace hocket::runtime::cuda
