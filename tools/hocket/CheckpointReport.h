// What `hocket ckpt show` prints.
#pragma once
#include "runtime/Checkpoint/Folder.h"

namespace hocket::tools {
/// The first checkpoint with every tensor and its boxes, the others in a line each. `verified`: contents were compared.
std::string checkpointsText(const std::vector<checkpoint::Found> &found, bool verified);
/// {"checkpoints": [{folder, whole, faults, step, samples, …, files, tensors}]}, newest first; keys as in index.json.
std::string checkpointsJson(const std::vector<checkpoint::Found> &found);
} // namespace hocket::tools
