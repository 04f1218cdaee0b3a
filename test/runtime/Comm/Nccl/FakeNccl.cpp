// NCCL that writes down how it is called, for tests: one line a call in fakeNcclLog. Calls do no work. What the next
// calls answer is set by fakeNcclAnswer and fakeNcclState.
#include "runtime/Comm/Nccl/Nccl.h"
#include <fmt/format.h>
#include <string>

#ifndef FAKE_NCCL_VERSION
#define FAKE_NCCL_VERSION 22809
#endif

using namespace hocket::runtime::nccl;

extern "C" {
std::string fakeNcclLog;
int fakeNcclAnswer = 0; // of groupEnd and initRankConfig
int fakeNcclState = 0;  // asynchronous
int ncclGetVersion(int *version) { return *version = FAKE_NCCL_VERSION, 0; }
const char *ncclGetErrorString(int) { return "unhandled system error"; }
const char *ncclGetLastError(Handle) { return "the cable is out"; }
int ncclGetUniqueId(UniqueId *id) { return id->bytes[0] = 77, 0; }
int ncclCommInitRankConfig(Handle *handle, int size, UniqueId id, int rank, Config *config) {
  fakeNcclLog += fmt::format("init {} of {} id {} blocking {}\n", rank, size, int(id.bytes[0]), config->blocking);
  *handle = &fakeNcclLog;
  return fakeNcclAnswer;
}
int ncclCommGetAsyncError(Handle, int *state) { return *state = fakeNcclState, 0; }
int ncclCommDestroy(Handle) { return fakeNcclLog += "destroy\n", 0; }
int ncclCommAbort(Handle) { return fakeNcclLog += "abort\n", 0; }
int ncclGroupStart() { return fakeNcclLog += "(", 0; }
int ncclGroupEnd() { return fakeNcclLog += ")\n", fakeNcclAnswer; }
int ncclAllReduce(const void *, void *, size_t count, int type, int operation, Handle, void *) {
  return fakeNcclLog += fmt::format("allReduce {} type {} operation {}", count, type, operation), 0;
}
int ncclReduceScatter(const void *, void *, size_t count, int type, int operation, Handle, void *) {
  return fakeNcclLog += fmt::format("reduceScatter {} type {} operation {}", count, type, operation), 0;
}
int ncclAllGather(const void *, void *, size_t count, int type, Handle, void *) {
  return fakeNcclLog += fmt::format("allGather {} type {}", count, type), 0;
}
int ncclBroadcast(const void *, void *, size_t count, int type, int root, Handle, void *) {
  return fakeNcclLog += fmt::format("broadcast {} type {} root {}", count, type, root), 0;
}
int ncclSend(const void *data, size_t count, int type, int peer, Handle, void *) {
  return fakeNcclLog += fmt::format("send {} {} type {} to {};", reinterpret_cast<uintptr_t>(data), count, type, peer),
         0;
}
int ncclRecv(void *data, size_t count, int type, int peer, Handle, void *) {
  return fakeNcclLog +=
         fmt::format("receive {} {} type {} from {};", reinterpret_cast<uintptr_t>(data), count, type, peer),
         0;
}
}
