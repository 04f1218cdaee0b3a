// Streams and events of the emulated device, and what a capture keeps of them.
#ifndef HOCKET_RUNTIME_DEVICE_EMULATOR_EMULATORSTREAMS_H
#define HOCKET_RUNTIME_DEVICE_EMULATOR_EMULATORSTREAMS_H

#include "runtime/Device/Emulator/EmulatorDevice.h"

namespace hocket::runtime::emulator {

struct EmulatorDevice::QueuedStream : Stream {
  QueuedStream(EmulatorDevice &device, std::shared_ptr<Queue> queue) : device(device), queue(std::move(queue)) {}
  ~QueuedStream() override;
  void *handle() const override { return const_cast<QueuedStream *>(this); }
  static QueuedStream &of(Stream &stream) { return *static_cast<QueuedStream *>(stream.handle()); }

  EmulatorDevice &device;
  std::shared_ptr<Queue> queue;
  std::shared_ptr<Capture> capture; // null: what is queued will run
  size_t captured = 0;              // which of the capture's streams it is
};

struct EmulatorDevice::RecordedEvent : Event {
  std::shared_ptr<EventState> state = std::make_shared<EventState>();
};

// What was queued on the streams of a capture, in order. A piece runs once the first `pieces` of `stream` have run.
struct EmulatorDevice::Capture {
  struct Piece {
    std::function<Result<bool>()> run; // none: only waits
    size_t stream = 0, pieces = 0;
  };
  std::vector<std::vector<Piece>> streams; // the first one began it
  std::vector<QueuedStream *> queues;      // by stream; null: gone
  uint64_t number = 0;                     // from 1
  bool ended = false;
};

inline EmulatorDevice::QueuedStream::~QueuedStream() {
  if (capture)
    capture->queues[captured] = nullptr;
  else
    (void)device.synchronize(*this);
}

} // namespace hocket::runtime::emulator
#endif
