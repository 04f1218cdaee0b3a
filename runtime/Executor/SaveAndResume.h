// How a rank saves its part of the state and starts from what was saved. All ranks do it together, through their world
// communicator and the folder, which they share; nothing here needs the launcher.
//
// Saving step N: rank 0 makes DIR/step-N.tmp; every rank that owns something writes and syncs its file; the ranks tell
// each other sizes and checksums; rank 0 writes the index, gives the folder its name, and removes old checkpoints.
// A kill before that name leaves DIR/step-N.tmp, which nobody reads, and the checkpoints before it as they were.
#ifndef HOCKET_RUNTIME_EXECUTOR_SAVEANDRESUME_H
#define HOCKET_RUNTIME_EXECUTOR_SAVEANDRESUME_H

#include "runtime/Checkpoint/Folder.h"
#include "runtime/Executor/RankContext.h"
#include "runtime/Executor/RunOptions.h"

namespace hocket::runtime {

class Saver {
public:
  // Options with an empty `save` make one that never saves. `seed`: of the run. `saved`: the step that is in the folder
  // already.
  Saver(const RankContext &context, const RunOptions &options, uint64_t seed, std::optional<uint64_t> saved);

  // After a step that is done; `samples`: read since the start of training. True where a checkpoint was written.
  Result<bool> afterStep(uint64_t step, uint64_t samples);
  // At the end of the run, after step `last`: saves it unless it is saved.
  Result<bool> atEnd(uint64_t last, uint64_t samples);

private:
  Status save(uint64_t step, uint64_t samples);
  Status writeOwn(checkpoint::Index &index);
  Status exchange(checkpoint::Index &index, const checkpoint::File &own);

  const RankContext &context;
  const RunOptions &options;
  uint64_t seed;
  std::optional<uint64_t> saved;
};

// What a run goes on from.
struct Resumed {
  std::string folder;
  uint64_t step = 0, samples = 0, seed = 0;
};

// Fills the state of this rank from the first of `options.resume` whose files have the content that their checksums
// say, and says on stderr what is wrong with those before it. Every rank checks a share of the files. The checkpoints
// fit the program (checkpoint::matchTensors found no faults). State that a checkpoint does not have is left as it is.
Result<Resumed> resume(const RankContext &context, const RunOptions &options);

} // namespace hocket::runtime
#endif
