// What happens where the system refuses memory, in any thread and under any library: the rank fails as one whose machine
// lacks something (exit status 4), and says so to the others. An exception would end in std::terminate wherever it
// crosses a thread's end or a library that is compiled without exceptions, as LLVM is.
#ifndef HOCKET_RUNTIME_EXECUTOR_OUTOFMEMORY_H
#define HOCKET_RUNTIME_EXECUTOR_OUTOFMEMORY_H

#include <new>

namespace hocket::runtime {

class RankHost;

// Before there is a host, or where a rank has none: one line on standard error.
void endWithoutMemory();

// As long as it lives operator new fails the rank of `host`. One at a time.
class OutOfMemory {
public:
  explicit OutOfMemory(RankHost &host);
  ~OutOfMemory();
  OutOfMemory(const OutOfMemory &) = delete;

private:
  std::new_handler before;
};

} // namespace hocket::runtime
#endif
