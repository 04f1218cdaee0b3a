// NCCL's C functions as the emulated library has them.
#ifndef HOCKET_RUNTIME_COMM_NCCLEMULATOR_FUNCTIONS_H
#define HOCKET_RUNTIME_COMM_NCCLEMULATOR_FUNCTIONS_H

#include "runtime/Comm/NcclEmulator/EmulatedCommunicator.h"

namespace hocket::runtime::nccl {

struct Functions {
  static inline NcclEmulator *current = nullptr; // of this process

  static int getVersion(int *version);
  static const char *getErrorString(int outcome);
  static const char *getLastError(Handle);
  static int getUniqueId(UniqueId *id);
  static int initRankConfig(Handle *handle, int size, UniqueId id, int rank, Config *config);
  static int getAsyncError(Handle handle, int *state);
  static int destroy(Handle handle);
  static int abort(Handle handle);
  static int groupStart();
  static int groupEnd();
  static int allReduce(const void *in, void *out, size_t count, int type, int operation, Handle handle, void *stream);
  static int reduceScatter(const void *in, void *out, size_t count, int type, int operation, Handle handle,
                           void *stream);
  static int allGather(const void *in, void *out, size_t count, int type, Handle handle, void *stream);
  static int broadcast(const void *in, void *out, size_t count, int type, int root, Handle handle, void *stream);
  static int send(const void *data, size_t count, int type, int peer, Handle handle, void *stream);
  static int receive(void *data, size_t count, int type, int peer, Handle handle, void *stream);

private:
  static int refuse(int outcome, std::string text);
  static std::shared_ptr<EmulatedCommunicator> find(Handle handle);
  static int end(Handle handle);
  static Result<EmulatedCommunicator *> ready(Handle handle, int type, void *stream);
  static int collective(Operation operation, const void *in, void *out, size_t count, int type, int reduction, int root,
                        Handle handle, void *stream);
  static int message(bool sends, void *data, size_t count, int type, int peer, Handle handle, void *stream);
  static int add(Piece piece, Handle handle, void *stream);
};

} // namespace hocket::runtime::nccl
#endif
