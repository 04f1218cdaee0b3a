// Looks at the hosts of a run before it starts: can a process be started there, and is what it needs there.
#ifndef HOCKET_TOOLS_HOCKET_RUN_REACHABLE_H
#define HOCKET_TOOLS_HOCKET_RUN_REACHABLE_H

#include "tools/hocket-run/Hostfile.h"

namespace hocket::run {

// How mpirun starts processes on other hosts: what OMPI_MCA_plm_rsh_agent says, or ssh, which must not ask questions.
std::string launchAgent();

// Asks all hosts but this machine at once, each for at most `seconds`. Lacking, with every host that does not answer,
// or lacks the executable at that path or Open MPI's daemon, and what was said instead.
runtime::Status checkReachable(const Hostfile &file, const std::string &executable, double seconds);

} // namespace hocket::run
#endif
