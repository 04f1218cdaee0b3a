// A plan made from flags, with nothing left to be guessed.
#pragma once
#include "tools/hocket/Lowering.h"

namespace hocket::tools {
/// Prints on stderr the tactics that each `split megatron` of the job's plan stands for, as a file would have them.
/// Faults of lowering the model have been reported (session.errors()).
void printExplicitTactics(Session &session, const Job &job);
} // namespace hocket::tools
