// The emulator as a device: memory of the host, kernels on the emulator, matrix products by plain loops.
//
// Queued work waits until somebody asks for it: synchronize, complete, a stream or memory that goes. Then pieces run
// one after another, drawn at random among the streams whose next piece may run: the order on one stream and what
// events say hold, nothing else does. So an order that a program needs but did not state is lost under some seeds, and
// a read by the host without a synchronize finds old data. The same seed and the same calls give the same order. With
// the checker on, two pieces that touch the same memory and that nothing orders are an error under every seed, also
// where this order gives the right result (StreamOrder.h). An error of queued work stays: every later call repeats it,
// as on CUDA after a fault.
#ifndef HOCKET_RUNTIME_DEVICE_EMULATOR_EMULATORDEVICE_H
#define HOCKET_RUNTIME_DEVICE_EMULATOR_EMULATORDEVICE_H

#include "runtime/Device/Device.h"
#include "runtime/Device/Emulator/Emulator.h"
#include "runtime/Device/Emulator/StreamOrder.h"
#include <chrono>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <random>

namespace hocket::runtime::emulator {

// What a product and its epilogue compute, by plain loops: sums in f32 with k ascending, C before first; each result is
// rounded once.
void plainGemm(const Gemm &gemm, const GemmBuffers &buffers);
// Every element that it reads or writes.
std::vector<Touch> touchedBy(const Gemm &gemm, const GemmBuffers &buffers);

class EmulatorDevice : public Device {
public:
  explicit EmulatorDevice(uint64_t seed = 0, Options options = {});
  ~EmulatorDevice() override;

  std::string_view name() const override { return "emulator"; }
  Result<void *> allocate(size_t bytes) override;
  void free(void *memory) override;
  Result<void *> allocateHost(size_t bytes) override;
  void freeHost(void *memory) override;
  Status copy(Stream &stream, void *to, const void *from, size_t bytes) override;
  Status zero(Stream &stream, void *memory, size_t bytes) override;
  Result<std::unique_ptr<Stream>> stream() override;
  Result<std::unique_ptr<Event>> event() override;
  Status mark(Stream &stream, uint32_t *word, uint32_t value) override;
  void nameMarks(MarkNames names) override { order.nameMarks(std::move(names)); }
  Result<double> seconds(Event &since, Event &until) override;
  Status record(Stream &stream, Event &event) override;
  Status wait(Stream &stream, Event &event) override;
  Result<bool> complete(Event &event) override;
  Status synchronize(Stream &stream) override;
  Result<const void *> kernel(std::string_view code, std::string_view symbol) override;
  Status launch(Stream &stream, const Launch &launch) override;
  Status beginCapture(Stream &stream) override;
  Result<std::unique_ptr<Graph>> endCapture(Stream &stream) override;
  Status launch(Stream &stream, Graph &graph) override;
  uint64_t capturing(Stream &stream) const override;
  Status enqueue(Stream &stream, std::function<Result<bool>()> work, Touches touched = {}) override;
  Status prepare(const Gemm &gemm, const GemmBuffers &buffers) override;
  Status gemm(Stream &stream, const Gemm &gemm, const GemmBuffers &buffers) override;

  Emulator &emulator() { return kernels; }

private:
  struct Capture;
  // A place in the work of a stream, which others wait for.
  struct Record {
    bool reached = false;
    Clock known; // what was before it, once it is reached
    std::chrono::steady_clock::time_point at;
  };
  // The last record of an event, null where there is none; of one in a capture, after what it was recorded there.
  struct EventState {
    std::shared_ptr<Record> last;
    std::shared_ptr<Capture> capture;
    size_t stream = 0, pieces = 0;
  };
  // One piece of queued work: it may run once `awaited` is reached.
  struct Work {
    std::function<Result<bool>()> run; // says whether it is done; if not, it is called again
    std::shared_ptr<Record> awaited;
    std::shared_ptr<const Clock> host; // what the host had waited for when it was queued
    bool begun = false;
  };
  struct Queue : std::deque<Work> {
    uint32_t lane = 0;
  };
  struct QueuedStream;
  struct RecordedEvent;
  struct CapturedGraph;
  struct Replay;
  struct LoadedKernel {
    const KernelModule *module;
    std::string symbol;
  };

  Status push(Stream &stream, Work work);
  Status waitInCapture(QueuedStream &stream, const std::shared_ptr<EventState> &state);
  Status once(Stream &stream, std::function<Status()> work);
  Status once(Stream &stream, std::function<Status()> work, Touches touched);
  Status reach(Record &record);
  void hostKnows(const Clock &clock);
  Status step();
  void start(Replay &replay, const CapturedGraph &graph);
  Status runWhile(const std::function<bool()> &unfinished);

  Emulator kernels;
  const bool ordered; // whether touches are looked at
  StreamOrder order;
  std::shared_ptr<const Clock> host = std::make_shared<Clock>(); // what the host has waited for
  uint32_t lane = 0;                                             // of the piece that runs
  std::mt19937_64 random;
  std::vector<std::shared_ptr<Queue>> queues;
  std::map<std::pair<const KernelModule *, std::string>, LoadedKernel> loaded;
  std::map<void *, size_t> memory;
  uint64_t allocations = 0, hostAllocations = 0, captures = 0;
  std::optional<Error> failed;
};

} // namespace hocket::runtime::emulator
#endif
