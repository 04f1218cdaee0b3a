// When ZeRO-3 gathers its parameters, where the plan does not say.
#pragma once
#include "tools/hocket/Lowering.h"

namespace hocket::tools {

/// Whether the plan has a ZeRO-3 that does not say when it gathers.
bool leavesGatherOpen(const Job &job);

/// Writes what dist-apply-plan chose, in `lowered`, into the job's plan, so that reports show it.
void adoptGather(Job &job, mlir::ModuleOp lowered);

/// With bounded memory: of the ways that fit, the one that sends least (once_partial, once, kept, per_use, in this
/// order), found by lowering under each and comparing the planned memory with `limitBytes`; per_use, which needs least,
/// if none fits. Says on stderr what it took and what did not fit. Does nothing where the plan has no ZeRO-3, or says
/// itself.
void chooseGatherWithin(Session &session, Job &job, uint64_t limitBytes);
} // namespace hocket::tools
