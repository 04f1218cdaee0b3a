// One file of a checkpoint: written by streaming, checked, and read by mapping it.
#ifndef HOCKET_RUNTIME_CHECKPOINT_SHARD_H
#define HOCKET_RUNTIME_CHECKPOINT_SHARD_H

#include "runtime/Checkpoint/CopyBox.h"
#include "runtime/Checkpoint/Files.h"
#include "runtime/Checkpoint/Layout.h"
#include "runtime/Checkpoint/Safetensors.h"
#include <unordered_map>

namespace hocket::checkpoint {

// Puts the elements of `box`, dense and row-major, into `to`: they lie in `tensor` and in one piece of it.
using Fill = std::function<runtime::Status(const Tensor &tensor, const Box &box, std::span<std::byte> to)>;

// Bytes of a file as it will be, header included.
uint64_t shardBytes(const Index &layout, uint32_t file);

// Writes a file of the layout into a folder and syncs it; returns its size and checksum. Never holds more than 4 MiB of
// a tensor. Leaves nothing behind when it fails.
runtime::Result<File> writeShard(const std::string &folder, const Index &layout, uint32_t file, const Fill &fill,
                                 const Progress &progress);

// Everything that is wrong with a file of a checkpoint: missing, another size than the index says, a header that is no
// safetensors header or lists other tensors than the index; with `content`, also a checksum that is not the index's
// (which reads all of it).
std::vector<std::string> shardFaults(const std::string &folder, const Index &index, uint32_t file, bool content,
                                     const Progress &progress);

// Reads tensors of a checkpoint whose files are sound (shardFaults). Files are mapped when they are first needed.
class ShardReader {
public:
  ShardReader(std::string folder, const Index &index) : folder(std::move(folder)), index(index) {}

  // Copies what lies in the view's box to `target`, converting elements to the view's type.
  runtime::Status read(uint32_t tensor, const View &to, std::byte *target, const Progress &progress);

private:
  struct Shard {
    std::unique_ptr<MappedFile> file;
    uint64_t dataOffset;
    std::unordered_map<std::string, TensorEntry> tensors;
  };
  runtime::Result<const Shard *> shard(uint32_t file);

  std::string folder;
  const Index &index;
  std::unordered_map<uint32_t, Shard> shards;
};

} // namespace hocket::checkpoint
#endif
