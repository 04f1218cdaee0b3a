// NCCL (libnccl.so.2), as far as it is used; opened at run time. A test compares constants with nccl.h where there is
// one.
#ifndef HOCKET_RUNTIME_COMM_NCCL_NCCL_H
#define HOCKET_RUNTIME_COMM_NCCL_NCCL_H

#include "runtime/Comm/Communicator.h"
#include "runtime/Device/Cuda/Library.h"

namespace hocket::runtime::nccl {

using Handle = void *; // ncclComm_t
struct UniqueId {      // ncclUniqueId
  char bytes[128];
};
enum Outcome : int { // ncclResult_t
  success = 0,
  systemError = 2,
  invalidArgument = 4,
  invalidUsage = 5,
  remoteError = 6, // a peer is gone
  inProgress = 7
};
int typeOf(ElementType type);         // ncclDataType_t
int operationOf(Reduction reduction); // ncclRedOp_t

// The first fields of ncclConfig_t, as version 2.14 has them: NCCL copies `size` bytes and fills up what `version` did
// not know. Not blocking: calls return at once and their outcome is asked for, so that a wait can end.
struct Config {
  size_t size = sizeof(Config);
  unsigned magic = 0xcafebeef;
  unsigned version = 21400;
  int blocking = 0;
};

inline constexpr int leastVersion = 21800; // 2.18

#define HOCKET_NCCL_FUNCTIONS(X)                                                                                       \
  X(getVersion, "ncclGetVersion", int(int *))                                                                          \
  X(getErrorString, "ncclGetErrorString", const char *(int))                                                           \
  X(getLastError, "ncclGetLastError", const char *(Handle))                                                            \
  X(getUniqueId, "ncclGetUniqueId", int(UniqueId *))                                                                   \
  X(initRankConfig, "ncclCommInitRankConfig", int(Handle *, int, UniqueId, int, Config *))                             \
  X(getAsyncError, "ncclCommGetAsyncError", int(Handle, int *))                                                        \
  X(destroy, "ncclCommDestroy", int(Handle))                                                                           \
  X(abort, "ncclCommAbort", int(Handle))                                                                               \
  X(groupStart, "ncclGroupStart", int())                                                                               \
  X(groupEnd, "ncclGroupEnd", int())                                                                                   \
  X(allReduce, "ncclAllReduce", int(const void *, void *, size_t, int, int, Handle, void *))                           \
  X(reduceScatter, "ncclReduceScatter", int(const void *, void *, size_t, int, int, Handle, void *))                   \
  X(allGather, "ncclAllGather", int(const void *, void *, size_t, int, Handle, void *))                                \
  X(broadcast, "ncclBroadcast", int(const void *, void *, size_t, int, int, Handle, void *))                           \
  X(send, "ncclSend", int(const void *, size_t, int, int, Handle, void *))                                             \
  X(receive, "ncclRecv", int(void *, size_t, int, int, Handle, void *))

struct Library {
  HOCKET_NCCL_FUNCTIONS(HOCKET_FIELD)

  // Lacking, with what is needed, where NCCL is missing or older than leastVersion.
  static Result<Library> open(const char *file = "libnccl.so.2");
  static std::vector<std::string> symbols();
  // Success (also "in progress"), or "ncclAllReduce: unhandled system error: details"; Aborted where a peer is gone.
  Status check(int outcome, std::string_view call) const;
};

} // namespace hocket::runtime::nccl
#endif
