// A folder of checkpoints, DIR/step-20, DIR/step-40, …: finding them, adding one whole or not at all, and keeping the
// last ones. What is being written or removed is called DIR/step-40.tmp; whoever saves next removes it.
#ifndef HOCKET_RUNTIME_CHECKPOINT_FOLDER_H
#define HOCKET_RUNTIME_CHECKPOINT_FOLDER_H

#include "runtime/Checkpoint/Files.h"
#include "runtime/Checkpoint/Index.h"

namespace hocket::checkpoint {

std::string stepFolder(const std::string &folder, uint64_t step);    // DIR/step-40
std::string partialFolder(const std::string &folder, uint64_t step); // DIR/step-40.tmp
// Whether a file or folder of this path would lie in a checkpoint (DIR/step-40/…), which nothing else may write into.
bool liesInCheckpoint(const std::string &path);

// One checkpoint and what is wrong with it; empty `faults`: its index is sound and every file that it names is there,
// of the right size and with the right tensors. (Contents are compared with their checksums by whoever loads it.)
struct Found {
  std::string folder;
  Index index;
  std::vector<std::string> faults;
};
Found openCheckpoint(const std::string &folder);

// The steps of which DIR holds a checkpoint, whole or not, newest first.
runtime::Result<std::vector<uint64_t>> stepsIn(const std::string &folder);

// The checkpoints that `--resume PATH` may mean: PATH itself if it has an index, else those in it, newest first.
// Empty where there are none; fails where PATH is no folder.
runtime::Result<std::vector<Found>> candidates(const std::string &path);

// Removes what was left half-written or half-removed.
runtime::Status cleanPartial(const std::string &folder);

// The first act of saving: an empty DIR/step-N.tmp, for the files.
runtime::Status beginPartial(const std::string &folder, uint64_t step);
// The last act of saving: writes the index beside the files in DIR/step-N.tmp, makes all durable, gives the folder its
// name, and removes all but the newest `keep` of the checkpoints up to this one.
runtime::Status commit(const std::string &folder, const Index &index, uint32_t keep);

// A claim to be the only one who saves into a folder, until it is dropped or its process ends.
class FolderLock {
public:
  static runtime::Result<FolderLock> take(const std::string &folder);
  FolderLock(FolderLock &&other) noexcept : descriptor(std::exchange(other.descriptor, -1)) {}
  FolderLock &operator=(FolderLock &&) = delete;
  ~FolderLock();

private:
  explicit FolderLock(int descriptor) : descriptor(descriptor) {}
  int descriptor;
};

// Makes a folder and those above it.
runtime::Status makeFolders(const std::string &folder);
// Cleans a folder that exists, and sees whether it can be written to and has room for a checkpoint of that size.
runtime::Status prepareFolder(const std::string &folder, uint64_t bytes);

} // namespace hocket::checkpoint
#endif
