// The fake NCCL of FakeNccl.cpp as a test sees it: what it was asked for, and what it is to answer.
#ifndef HOCKET_TEST_RUNTIME_COMM_NCCL_FAKENCCL_H
#define HOCKET_TEST_RUNTIME_COMM_NCCL_FAKENCCL_H

#include <dlfcn.h>
#include <string>
#include <utility>

namespace hocket::test {

struct FakeNccl {
  FakeNccl() {
    void *fake = dlopen(HOCKET_FAKE_NCCL, RTLD_NOW);
    log = static_cast<std::string *>(dlsym(fake, "fakeNcclLog"));
    answer = static_cast<int *>(dlsym(fake, "fakeNcclAnswer"));
    state = static_cast<int *>(dlsym(fake, "fakeNcclState"));
    log->clear();
    *answer = *state = 0;
  }
  // The calls since it was asked last, a line each.
  std::string taken() { return std::exchange(*log, ""); }

  std::string *log;
  int *answer, *state; // of the calls, of ncclCommGetAsyncError
};

} // namespace hocket::test
#endif
