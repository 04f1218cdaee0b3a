// Runs the rows of one entry on a device with queues: a GPU, or the emulator. The host walks the rows in the order in
// which every rank issues them (runtime/Program/IssueOrder.h) and queues what they say; it waits for nothing before the
// end of the pass. Stream 0 computes, every stream of messages and every stream of bodies is a stream of the device.
//
//   plan                                   on the device
//   row waits for the first n of stream s  its stream waits for an event after the n-th row of s
//   instruction on a body stream           that stream waits for an event of compute at this place
//   await of n on a body stream            compute waits for an event after the n-th instruction there
//   collectives side by side               one group of calls (runtime/Program/CallGroups.h)
//   pass                                   all streams begin after compute, and join it at the end
//
// Nothing else orders anything, so what the plan forgets to say is not in order here either. And nothing is ordered
// twice: a wait that others imply is left out.
//
// From its second pass on an entry is one CUDA graph, captured once: what changes from step to step lies in memory. It
// is queued piece by piece instead where the host must look in between (--check-finite, a poisoned gradient), where one
// is to hang, where times of instructions are asked for (--trace), where it would have more than mostGraphNodes pieces,
// and where HOCKET_GRAPH=0 says so. The first pass never is: libraries allocate and connect then.
#ifndef HOCKET_RUNTIME_EXECUTOR_DEVICESTEP_H
#define HOCKET_RUNTIME_EXECUTOR_DEVICESTEP_H

#include "runtime/Executor/DeviceProgress.h"
#include "runtime/Executor/DeviceTrace.h"
#include "runtime/Executor/FiniteCheck.h"
#include "runtime/Executor/PassRunner.h"
#include <deque>
#include <optional>

namespace hocket::runtime {

class DeviceStep : public PassRunner {
public:
  static constexpr uint64_t mostGraphNodes = 200'000; // a graph keeps some hundred bytes of each
  DeviceStep(RankContext &context, const program::Entry &entry);
  ~DeviceStep() override;

  Status run(uint64_t step, uint64_t evaluation = 0) override;

private:
  // What a row waits for, without what follows from waits of rows before it on its stream, or from another of its own.
  struct RowWaits {
    std::vector<uint32_t> rows;
    uint32_t waiters = 0; // rows that wait for this one
  };
  // A body stream.
  struct Streamed {
    std::vector<std::unique_ptr<Event>> events; // after each instruction of the running body, in order
    uint32_t awaited = 0;                       // how many of them compute is after
    uint32_t wanted = 0, wantedBy = 0;          // how many it is to be after before it goes on; instruction
    bool behind = false;                        // compute has something before it that this stream is not after yet
  };

  void findWaits();
  Status prepare();
  Status checkOrder() const;
  bool mayCapture() const;
  Status capture();
  Status queuePass();
  Status queueRow(uint32_t index);
  Status queueBody(uint32_t index);
  Status queueMessage(uint32_t index);
  Status queueInstruction(uint32_t row, uint32_t instruction, uint32_t end);
  Status queueKernel(const program::Instruction &instruction, std::span<void *const> buffers);
  Status queueProduct(const program::Instruction &instruction, std::span<void *const> buffers);
  Status queueOnStream(uint32_t row, uint32_t instruction, uint32_t end);
  void queueAwait(uint32_t row, uint32_t instruction);
  Status catchUp(uint32_t row, size_t except = SIZE_MAX);
  Status queueCollectives(uint32_t row, uint32_t first, uint32_t end, Stream &stream);
  Status lookAt(uint32_t row, uint32_t instruction, Stream &stream);
  Status startTogether();
  Status joinAll();
  Status drain(Stream &stream);

  Status after(Stream &stream, std::unique_ptr<Event> &event);
  Status wait(Stream &stream, Event &event, uint32_t row, uint32_t instruction = RankStatus::none);
  Result<std::unique_ptr<Event>> takeEvent();
  void computeWent(size_t except = SIZE_MAX);
  std::string placeOf(uint32_t row, uint32_t instruction) const;
  Error explain(Error error, uint32_t row, uint32_t instruction) const;
  Error failed(Error error) const;
  Stream &bodyStream(uint32_t number) { return *streams[entry.streams()->size() + number - 1]; }

  RankContext &context;
  const program::Entry &entry;
  std::vector<uint32_t> order; // rows, as they are issued
  std::vector<RowWaits> waits; // by row
  DeviceProgress progress;     // outlives the streams, whose work writes there
  // The entry's streams, then the body streams of the program. Made when first run.
  std::vector<std::unique_ptr<Stream>> streams;
  std::vector<std::unique_ptr<Event>> rowEvents; // by row; held while somebody still is to wait for them
  std::vector<Streamed> streamed;                // by body stream
  std::vector<std::unique_ptr<Event>> spare;
  std::unique_ptr<Event> end;
  std::unique_ptr<Graph> graph; // null: not captured
  std::optional<FiniteCheck> finite;
  DeviceTrace trace;
  uint64_t step = 0, evaluation = 0, passes = 0;
  uint64_t waitsQueued = 0, droppedWait = 0;   // of this pass; the number of one to leave out, for tests (0: none)
  uint64_t kernelsQueued = 0, strayKernel = 0; // the same of kernels
  bool capturing = false;
};

} // namespace hocket::runtime
#endif
