// A stream that belongs to somebody else, by its handle.
#ifndef HOCKET_RUNTIME_DEVICE_BORROWEDSTREAM_H
#define HOCKET_RUNTIME_DEVICE_BORROWEDSTREAM_H

#include "runtime/Device/Device.h"

namespace hocket::runtime {

class BorrowedStream : public Stream {
public:
  explicit BorrowedStream(void *stream) : stream(stream) {}
  void *handle() const override { return stream; }

private:
  void *stream;
};

} // namespace hocket::runtime
#endif
