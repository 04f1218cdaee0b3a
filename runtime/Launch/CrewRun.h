// A run whose ranks mpirun, srun or torchrun has started, on any hosts: the executable reads the command line of
// hocket-run by itself, and rank 0 does what hocket-run does on one host: checks, progress, metrics, the report about a
// failure.
#ifndef HOCKET_RUNTIME_LAUNCH_CREWRUN_H
#define HOCKET_RUNTIME_LAUNCH_CREWRUN_H

#include "runtime/Executor/Rank.h"

namespace hocket::run {

// What started this process: something that MPI knows its peers through, or something that only says where rank 0 is
// (Comm/Tcp/Place.h). Asked in this order.
bool isRankOfMpi();
bool isRankOverTcp();

// Return this rank's exit status; once a process, from its only thread.
int runOverMpi(const runtime::RankImage &image, int argc, char **argv);
int runOverTcp(const runtime::RankImage &image, int argc, char **argv);
// Nothing has started this process as a rank, and it has a command line: runs a program of one rank, says how to start
// one of several.
int runAlone(const runtime::RankImage &image, int argc, char **argv);

} // namespace hocket::run
#endif
