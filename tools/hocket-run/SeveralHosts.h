// A run on several hosts: hocket-run checks what can be seen from here, starts mpirun with the right words, passes
// signals on, and ends with the exit status that a run on one host would have. The ranks check, watch and report by
// themselves (runtime/Launch/CrewRun.h).
#ifndef HOCKET_TOOLS_HOCKET_RUN_SEVERALHOSTS_H
#define HOCKET_TOOLS_HOCKET_RUN_SEVERALHOSTS_H

#include "runtime/Launch/Options.h"

namespace hocket::run {

// `hosts`: the file of --hosts. `arguments`: what the ranks are told, options only.
Exit launchOnHosts(const Options &options, const std::string &hosts, const std::vector<std::string> &arguments);

} // namespace hocket::run
#endif
