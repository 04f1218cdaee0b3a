// Thin calls of the driver.
#include "runtime/Device/Cuda/CudaHandles.h"
#include <cstring>
#include <fmt/format.h>

namespace hocket::runtime::cuda {

namespace {

Handle of(Stream &stream) { return stream.handle(); }
Handle of(Event &event) { return static_cast<CudaEvent &>(event).event; }
DevicePointer address(const void *pointer) { return reinterpret_cast<DevicePointer>(pointer); }

// Below it a kernel needs no leave for its dynamic shared memory.
constexpr uint32_t sharedWithoutLeave = 48 << 10;
constexpr int leastArchitecture = 80;

} // namespace

Result<std::unique_ptr<CudaDevice>> CudaDevice::open(int ordinal) {
  Result<Driver> driver = Driver::open();
  if (!driver)
    return std::move(driver.error());
  Result<BlasLt> blas = BlasLt::open();
  if (!blas)
    return std::move(blas.error());
  return create(*driver, *blas, ordinal);
}

Result<std::unique_ptr<CudaDevice>> CudaDevice::create(Driver driver, BlasLt blas, int ordinal) {
  std::unique_ptr<CudaDevice> device(new CudaDevice(driver));
  if (Status started = device->start(blas, ordinal); !started)
    return std::move(started.error());
  return device;
}

Status CudaDevice::start(BlasLt blas, int ordinal) {
  int count = 0;
  if (Status asked = driver.check(driver.deviceGetCount(&count), "cuDeviceGetCount"); !asked)
    return asked;
  if (ordinal < 0 || ordinal >= count)
    return Error{ErrorKind::Lacking, fmt::format("no GPU {}: this process sees {}", ordinal, count), {}};
  if (Status got = driver.check(driver.deviceGet(&number, ordinal), "cuDeviceGet"); !got)
    return got;
  char text[256] = {};
  int major = 0, minor = 0;
  driver.deviceGetName(text, sizeof text - 1, number);
  driver.deviceGetAttribute(&major, attributeMajor, number);
  driver.deviceGetAttribute(&minor, attributeMinor, number);
  gpuName = text;
  computeCapability = 10 * major + minor;
  if (computeCapability < leastArchitecture)
    return Error{ErrorKind::Lacking,
                 fmt::format("GPU {} ({}) is sm_{}; sm_{} or later is needed", ordinal, gpuName, computeCapability,
                             leastArchitecture),
                 {}};
  if (Status kept = driver.check(driver.primaryContextRetain(&context, number), "cuDevicePrimaryCtxRetain"); !kept)
    return kept;
  if (Status set = driver.check(driver.contextSetCurrent(context), "cuCtxSetCurrent"); !set)
    return set;
  Result<std::unique_ptr<Products>> made = Products::create(blas);
  if (!made)
    return std::move(made.error());
  products = std::move(*made);
  return {};
}

CudaDevice::~CudaDevice() {
  products.reset();
  for (auto &[code, module] : modules)
    driver.moduleUnload(module);
  if (context)
    driver.primaryContextRelease(number);
}

Result<void *> CudaDevice::allocate(size_t bytes) {
  DevicePointer memory = 0;
  int outcome = driver.memoryAllocate(&memory, bytes ? bytes : 1);
  if (outcome == outOfMemory)
    return Error{ErrorKind::Lacking, fmt::format("no {} bytes of memory", bytes), {}};
  if (Status made = driver.check(outcome, "cuMemAlloc"); !made)
    return std::move(made.error());
  if (Status set = driver.check(driver.memorySet(memory, 0, bytes ? bytes : 1), "cuMemsetD8"); !set)
    return std::move(set.error());
  return reinterpret_cast<void *>(memory);
}

void CudaDevice::free(void *memory) { driver.memoryFree(address(memory)); }

Result<void *> CudaDevice::allocateHost(size_t bytes) {
  void *memory = nullptr;
  int outcome = driver.hostAllocate(&memory, bytes ? bytes : 1, hostPortable);
  if (outcome == outOfMemory)
    return Error{ErrorKind::Lacking, fmt::format("no {} bytes of page-locked host memory", bytes), {}};
  if (Status made = driver.check(outcome, "cuMemHostAlloc"); !made)
    return std::move(made.error());
  return std::memset(memory, 0, bytes);
}

void CudaDevice::freeHost(void *memory) { driver.hostFree(memory); }

// Page-locked memory has the same address on the device (unified addressing).
Status CudaDevice::mark(Stream &stream, uint32_t *word, uint32_t value) {
  return driver.check(driver.memorySetWords(address(word), value, 1, of(stream)), "cuMemsetD32Async");
}

Status CudaDevice::copy(Stream &stream, void *to, const void *from, size_t bytes) {
  return bytes ? driver.check(driver.memoryCopyAsync(address(to), address(from), bytes, of(stream)), "cuMemcpyAsync")
               : Status();
}

Status CudaDevice::zero(Stream &stream, void *memory, size_t bytes) {
  return bytes ? driver.check(driver.memorySetAsync(address(memory), 0, bytes, of(stream)), "cuMemsetD8Async")
               : Status();
}

Result<std::unique_ptr<Stream>> CudaDevice::stream() {
  Handle made = nullptr;
  if (Status created = driver.check(driver.streamCreate(&made, streamNonBlocking), "cuStreamCreate"); !created)
    return std::move(created.error());
  return std::unique_ptr<Stream>(std::make_unique<CudaStream>(driver, made));
}

Result<std::unique_ptr<Event>> CudaDevice::event() { return makeEvent(eventDisableTiming); }

Result<std::unique_ptr<Event>> CudaDevice::timedEvent() { return makeEvent(0); }

Result<std::unique_ptr<Event>> CudaDevice::makeEvent(unsigned flags) {
  Handle made = nullptr;
  if (Status created = driver.check(driver.eventCreate(&made, flags), "cuEventCreate"); !created)
    return std::move(created.error());
  return std::unique_ptr<Event>(std::make_unique<CudaEvent>(driver, made));
}

Result<double> CudaDevice::seconds(Event &since, Event &until) {
  float milliseconds = 0;
  int outcome = driver.eventElapsed(&milliseconds, of(since), of(until));
  if (Status told = driver.check(outcome, "cuEventElapsedTime"); !told)
    return std::move(told.error());
  return 1e-3 * static_cast<double>(milliseconds);
}

Status CudaDevice::record(Stream &stream, Event &event) {
  return driver.check(driver.eventRecord(of(event), of(stream)), "cuEventRecord");
}

Status CudaDevice::wait(Stream &stream, Event &event) {
  return driver.check(driver.streamWaitEvent(of(stream), of(event), 0), "cuStreamWaitEvent");
}

Result<bool> CudaDevice::complete(Event &event) {
  int outcome = driver.eventQuery(of(event));
  if (outcome == notReady)
    return false;
  if (Status asked = driver.check(outcome, "cuEventQuery"); !asked)
    return std::move(asked.error());
  return true;
}

Status CudaDevice::synchronize(Stream &stream) {
  return driver.check(driver.streamSynchronize(of(stream)), "cuStreamSynchronize");
}

Result<const void *> CudaDevice::kernel(std::string_view code, std::string_view symbol) {
  auto module = modules.find(code);
  if (module == modules.end()) {
    std::string text(code); // PTX ends with a 0 byte
    Handle made = nullptr;
    if (Status loaded = driver.check(driver.moduleLoadData(&made, text.c_str()), "cuModuleLoadData"); !loaded)
      return std::move(loaded.error()).in(fmt::format("kernel \"{}\"", symbol));
    module = modules.emplace(std::move(text), made).first;
  }
  Handle function = nullptr;
  int outcome = driver.moduleGetFunction(&function, module->second, std::string(symbol).c_str());
  if (Status got = driver.check(outcome, "cuModuleGetFunction"); !got)
    return std::move(got.error()).in(fmt::format("kernel \"{}\"", symbol));
  return static_cast<const void *>(function);
}

Status CudaDevice::launch(Stream &stream, const Launch &launch) {
  Handle function = const_cast<void *>(launch.kernel);
  const auto &[grid, block, sharedBytes] = launch.shape;
  if (sharedBytes > sharedWithoutLeave && mostShared[function] < sharedBytes) {
    int outcome = driver.functionSetAttribute(function, functionMostDynamicShared, static_cast<int>(sharedBytes));
    if (Status raised = driver.check(outcome, "cuFuncSetAttribute"); !raised)
      return raised;
    mostShared[function] = sharedBytes;
  }
  std::vector<void *> arguments;
  for (void *const &buffer : launch.buffers)
    arguments.push_back(const_cast<void **>(&buffer));
  for (const int64_t &scalar : launch.scalars)
    arguments.push_back(const_cast<int64_t *>(&scalar));
  void *scratch = launch.scratch;
  if (scratch)
    arguments.push_back(&scratch);
  return driver.check(driver.launchKernel(function, grid[0], grid[1], grid[2], block[0], block[1], block[2],
                                          sharedBytes, of(stream), arguments.data(), nullptr),
                      "cuLaunchKernel");
}

void CudaDevice::gemmWorkspace(void *memory, size_t bytes) { products->workspace(memory, bytes); }

// A sum of nothing.
Status CudaDevice::zeroProduct(Handle stream, const Gemm &gemm, void *c) {
  auto row = static_cast<size_t>(gemm.n * sizeBytes(gemm.resultType));
  for (int64_t i = 0; i < gemm.batch; ++i)
    for (int64_t m = 0; m < gemm.m; ++m) {
      auto *at = static_cast<std::byte *>(c) + (i * gemm.strideC + m * gemm.ldc) * sizeBytes(gemm.resultType);
      if (Status set = driver.check(driver.memorySetAsync(address(at), 0, row, stream), "cuMemsetD8Async"); !set)
        return set;
    }
  return {};
}

static bool empty(const Gemm &gemm) { return !gemm.m || !gemm.n || !gemm.batch || !gemm.k; }

Status CudaDevice::prepare(const Gemm &gemm, const GemmBuffers &buffers) {
  return empty(gemm) ? Status() : products->prepare(gemm, buffers);
}

Status CudaDevice::gemm(Stream &stream, const Gemm &gemm, const GemmBuffers &buffers) {
  if (!empty(gemm))
    return products->multiply(of(stream), gemm, buffers);
  if (gemm.epilogue != GemmEpilogue::None)
    return Error{ErrorKind::Invalid, "an empty product has no epilogue", {}};
  return gemm.k || gemm.accumulate ? Status() : zeroProduct(of(stream), gemm, buffers.c);
}

} // namespace hocket::runtime::cuda
