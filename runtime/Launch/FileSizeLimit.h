// Files that the system lets grow no more (ulimit -f) are errors of the writes to them, which are told, and no end by a
// signal. Programs that are started inherit it.
#ifndef HOCKET_RUNTIME_LAUNCH_FILESIZELIMIT_H
#define HOCKET_RUNTIME_LAUNCH_FILESIZELIMIT_H

#include <csignal>

namespace hocket::run {

inline void makeFileSizeLimitAnError() { std::signal(SIGXFSZ, SIG_IGN); }

} // namespace hocket::run
#endif
