// Queues and the draw among them.
#include "runtime/Device/Emulator/EmulatorStreams.h"
#include "runtime/Device/InterfaceHash.h"
#include "llvm/Support/ErrorHandling.h"
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fmt/format.h>
#include <mutex>
#include <new>
#include <thread>

namespace hocket::runtime::emulator {

EmulatorDevice::EmulatorDevice(uint64_t seed, Options options)
    : kernels(options), ordered(options.check), random(seed) {}

EmulatorDevice::~EmulatorDevice() {
  for (auto &[address, bytes] : memory)
    std::free(address);
}

Result<void *> EmulatorDevice::allocate(size_t bytes) {
  constexpr size_t alignment = 256;
  size_t rounded = std::max((bytes + alignment - 1) / alignment * alignment, alignment);
  void *made = rounded < bytes ? nullptr : std::aligned_alloc(alignment, rounded);
  if (!made)
    return Error{ErrorKind::Lacking, fmt::format("no {} bytes of memory", bytes), {}};
  memory[made] = bytes;
  std::string name = fmt::format("device memory {}", allocations++);
  kernels.addRegion(made, bytes, name);
  order.addRegion(made, bytes, name);
  return std::memset(made, 0, rounded);
}

Result<void *> EmulatorDevice::allocateHost(size_t bytes) {
  Result<void *> made = Device::allocateHost(bytes);
  if (made)
    order.addRegion(*made, bytes, fmt::format("host memory {}", hostAllocations++));
  return made;
}

void EmulatorDevice::freeHost(void *address) {
  order.removeRegion(address);
  Device::freeHost(address);
}

// cudaFree waits for everything.
void EmulatorDevice::free(void *address) {
  (void)runWhile(
      [&] { return std::any_of(queues.begin(), queues.end(), [](auto &queue) { return !queue->empty(); }); });
  kernels.removeRegion(address);
  order.removeRegion(address);
  if (memory.erase(address))
    std::free(address);
}

Result<std::unique_ptr<Stream>> EmulatorDevice::stream() {
  queues.push_back(std::make_shared<Queue>());
  queues.back()->lane = order.addLane();
  return std::unique_ptr<Stream>(std::make_unique<QueuedStream>(*this, queues.back()));
}

Result<std::unique_ptr<Event>> EmulatorDevice::event() {
  return std::unique_ptr<Event>(std::make_unique<RecordedEvent>());
}

Status EmulatorDevice::push(Stream &stream, Work work) {
  if (failed)
    return *failed;
  QueuedStream &on = QueuedStream::of(stream);
  if (on.capture)
    on.capture->streams[on.captured].push_back({std::move(work.run)});
  else
    on.queue->push_back(std::move(work));
  return {};
}

Status EmulatorDevice::enqueue(Stream &stream, std::function<Result<bool>()> work, Touches touched) {
  if (!ordered || touched.memory.empty())
    return push(stream, {std::move(work), nullptr, host});
  auto looked = [this, work = std::move(work), touched = std::move(touched), begun = false]() mutable -> Result<bool> {
    if (!std::exchange(begun, true))
      if (Status sound = order.touch(lane, touched); !sound)
        return std::move(sound.error());
    return work();
  };
  return push(stream, {std::move(looked), nullptr, host});
}

Status EmulatorDevice::once(Stream &stream, std::function<Status()> work, Touches touched) {
  return enqueue(
      stream,
      [work = std::move(work)]() -> Result<bool> {
        Status ran = work();
        if (!ran)
          return std::move(ran.error());
        return true;
      },
      std::move(touched));
}

Status EmulatorDevice::once(Stream &stream, std::function<Status()> work) { return once(stream, std::move(work), {}); }

void EmulatorDevice::hostKnows(const Clock &clock) {
  auto known = std::make_shared<Clock>(*host);
  join(*known, clock);
  host = std::move(known);
}

// Runs one piece of work of one stream, or what of it can be done now.
Status EmulatorDevice::step() {
  if (failed)
    return *failed;
  std::vector<Queue *> able;
  std::erase_if(queues, [](auto &queue) { return queue.use_count() == 1 && queue->empty(); });
  for (auto &queue : queues)
    if (!queue->empty() && (!queue->front().awaited || queue->front().awaited->reached))
      able.push_back(queue.get());
  if (able.empty()) {
    failed = Error{ErrorKind::Invalid, "streams wait for events that nothing will record", {}};
    return *failed;
  }
  Queue &chosen = *able[random() % able.size()];
  lane = chosen.lane;
  if (Work &next = chosen.front(); !std::exchange(next.begun, true)) {
    if (next.host)
      order.after(lane, *next.host);
    if (next.awaited)
      order.after(lane, next.awaited->known);
    order.begin(lane);
  }
  if (!chosen.front().run) {
    chosen.pop_front();
    return {};
  }
  Result<bool> ran = chosen.front().run();
  if (!ran) {
    failed = ran.error();
    return *failed;
  }
  if (*ran)
    chosen.pop_front();
  else if (able.size() == 1)
    std::this_thread::sleep_for(std::chrono::microseconds(20)); // for what others than this device have to do
  return {};
}

Status EmulatorDevice::runWhile(const std::function<bool()> &unfinished) {
  while (unfinished())
    if (Status ran = step(); !ran)
      return ran;
  return failed ? Status(*failed) : Status();
}

Status EmulatorDevice::record(Stream &stream, Event &event) {
  auto state = static_cast<RecordedEvent &>(event).state;
  QueuedStream &on = QueuedStream::of(stream);
  state->capture = on.capture;
  if (on.capture) {
    state->stream = on.captured;
    state->pieces = on.capture->streams[on.captured].size();
    return failed ? Status(*failed) : Status();
  }
  state->last = std::make_shared<Record>();
  return once(stream, [this, record = state->last] { return reach(*record); });
}

Status EmulatorDevice::reach(Record &record) {
  record = {true, order.known(lane), std::chrono::steady_clock::now()};
  return {};
}

// Waits for the last record before this call; for nothing when there is none.
Status EmulatorDevice::wait(Stream &stream, Event &event) {
  auto state = static_cast<RecordedEvent &>(event).state;
  if (QueuedStream::of(stream).capture || state->capture)
    return waitInCapture(QueuedStream::of(stream), state);
  return push(stream, {nullptr, state->last, host});
}

// A few pieces run first, so that asking again and again comes to an end.
Result<bool> EmulatorDevice::complete(Event &event) {
  EventState &state = *static_cast<RecordedEvent &>(event).state;
  if (state.capture)
    return Error{ErrorKind::Invalid, "an event of a capture is asked whether it is complete", {}};
  for (uint64_t left = random() % 4; left && state.last && !state.last->reached; --left)
    if (Status ran = step(); !ran)
      return std::move(ran.error());
  if (failed)
    return *failed;
  if (!state.last)
    return true;
  if (!state.last->reached)
    return false;
  hostKnows(state.last->known);
  return true;
}

Status EmulatorDevice::synchronize(Stream &stream) {
  if (QueuedStream::of(stream).capture)
    return Error{ErrorKind::Invalid, "a stream that is captured is waited for", {}};
  Queue &queue = *QueuedStream::of(stream).queue;
  Status ran = runWhile([&] { return !queue.empty(); });
  hostKnows(order.known(queue.lane));
  return ran;
}

Status EmulatorDevice::mark(Stream &stream, uint32_t *word, uint32_t value) {
  return once(stream, [this, word, value] {
    *word = value;
    order.mark(lane, word, value);
    return Status();
  });
}

Result<double> EmulatorDevice::seconds(Event &since, Event &until) {
  auto at = [](Event &event) { return static_cast<RecordedEvent &>(event).state->last; };
  if (!at(since) || !at(until))
    return Error{ErrorKind::Invalid, "an event that was never recorded has no time", {}};
  return std::chrono::duration<double>(at(until)->at - at(since)->at).count();
}

Status EmulatorDevice::copy(Stream &stream, void *to, const void *from, size_t bytes) {
  auto work = [=] {
    if (bytes)
      std::memmove(to, from, bytes);
    return Status();
  };
  return once(stream, work, {"a copy", {{from, bytes, false}, {to, bytes, true}}});
}

Status EmulatorDevice::zero(Stream &stream, void *address, size_t bytes) {
  auto work = [=] {
    if (bytes)
      std::memset(address, 0, bytes);
    return Status();
  };
  return once(stream, work, {"zeroing", {{address, bytes, true}}});
}

Result<const void *> EmulatorDevice::kernel(std::string_view code, std::string_view symbol) {
  auto module = kernels.load(code);
  if (!module)
    return std::move(module.error());
  const auto &known = (*module)->kernels();
  if (std::none_of(known.begin(), known.end(), [&](const Kernel &kernel) { return kernel.name == symbol; }))
    return Error{ErrorKind::Invalid, fmt::format("no kernel \"{}\"", symbol), {}};
  auto entry = loaded.try_emplace({*module, std::string(symbol)}, LoadedKernel{*module, std::string(symbol)});
  return static_cast<const void *>(&entry.first->second);
}

Status EmulatorDevice::launch(Stream &stream, const Launch &launch) {
  const auto *kernel = static_cast<const LoadedKernel *>(launch.kernel);
  std::vector<int64_t> values; // pointers and numbers are 8 bytes both
  for (void *buffer : launch.buffers)
    values.push_back(static_cast<int64_t>(reinterpret_cast<uintptr_t>(buffer)));
  values.insert(values.end(), launch.scalars.begin(), launch.scalars.end());
  if (launch.scratch)
    values.push_back(static_cast<int64_t>(reinterpret_cast<uintptr_t>(launch.scratch)));
  return once(stream, [this, kernel, values, shape = launch.shape] {
    std::vector<const void *> arguments;
    for (const int64_t &value : values)
      arguments.push_back(&value);
    auto extent = [](const std::array<uint32_t, 3> &sizes) { return Extent{sizes[0], sizes[1], sizes[2]}; };
    Status ran = kernels.launch(*kernel->module, kernel->symbol, extent(shape.grid), extent(shape.block),
                                shape.sharedBytes, arguments);
    return ran && ordered ? order.touch(lane, {fmt::format("kernel \"{}\"", kernel->symbol), kernels.touched()}) : ran;
  });
}

// As strict as cublasLt (CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD), so that what runs here runs there.
Status EmulatorDevice::prepare(const Gemm &gemm, const GemmBuffers &) {
  if (hasBefore(gemm.epilogue) && gemm.ldc % 8 != 0)
    return Error{ErrorKind::Invalid,
                 fmt::format("the leading dimension of gelu's operand is {}, expected a multiple of 8", gemm.ldc),
                 {}};
  if (gemm.epilogue != GemmEpilogue::None && (gemm.batch != 1 || (gemm.accumulate && !mayAccumulate(gemm.epilogue))))
    return Error{ErrorKind::Invalid, "a product with this epilogue has a batch or accumulates", {}};
  return {};
}

Status EmulatorDevice::gemm(Stream &stream, const Gemm &gemm, const GemmBuffers &buffers) {
  if (Status sound = prepare(gemm, buffers); !sound)
    return sound;
  auto work = [=] {
    plainGemm(gemm, buffers);
    return Status();
  };
  return once(stream, work, {"a product", ordered ? touchedBy(gemm, buffers) : std::vector<Touch>()});
}

} // namespace hocket::runtime::emulator

// What OpenEmulator.cpp looks for in this library: first whether it is the one that the program was compiled for.
extern "C" uint64_t hocketDeviceInterface() { return hocket::runtime::interfaceHash; }
// LLVM's own allocations are to fail as all others of the process do, and not with a stack dump.
static void refuseAsOthers() {
  static std::once_flag once;
  std::call_once(once, [] {
    llvm::install_bad_alloc_error_handler([](void *, const char *, bool) {
      if (std::new_handler handler = std::get_new_handler())
        handler();
    });
  });
}

extern "C" hocket::runtime::Device *hocketMakeEmulatorDevice(uint64_t seed, bool check) {
  refuseAsOthers();
  hocket::runtime::emulator::Options options;
  options.check = check;
  return new hocket::runtime::emulator::EmulatorDevice(seed, options);
}
