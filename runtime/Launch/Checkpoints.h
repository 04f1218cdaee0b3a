// What --save and --resume mean, decided before the ranks start.
#ifndef HOCKET_RUNTIME_LAUNCH_CHECKPOINTS_H
#define HOCKET_RUNTIME_LAUNCH_CHECKPOINTS_H

#include "runtime/Checkpoint/Folder.h"
#include "runtime/Launch/Options.h"

namespace hocket::run {

// The checkpoints that the run may go on from, best first (the ranks compare contents with checksums and take the first
// that is whole); none: it starts from the beginning. Notes about what is damaged or differs go to stderr. Fails, with
// everything that differs, where there is none, or the newest does not fit program, seed, data file or steps.
runtime::Result<std::vector<std::string>> chooseResume(const Options &options, const program::Program &program);

// Makes the folder of --save ready; only the process that leads the run does it. Holds the folder while the result
// lives; nothing where nothing is saved. Fails where it cannot be written to, is too full, is another run's, or holds
// checkpoints that the run does not go on from.
runtime::Result<std::optional<checkpoint::FolderLock>>
prepareSaving(const Options &options, const program::Program &program, const std::vector<std::string> &resume);

} // namespace hocket::run
#endif
