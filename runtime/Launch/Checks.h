// What can be at fault before the first rank computes, whoever starts the ranks: hocket-run looks before a process
// starts, rank 0 of an MPI run before all begin. Each fails with Invalid (the input) or Lacking (the machine).
#ifndef HOCKET_RUNTIME_LAUNCH_CHECKS_H
#define HOCKET_RUNTIME_LAUNCH_CHECKS_H

#include "runtime/Launch/Options.h"
#include "runtime/Program/program_generated.h"

namespace hocket::run {

// One of several findings where all are well; else one error that tells every fault, a line each, of the first one's
// kind.
runtime::Status allOf(std::vector<runtime::Status> findings);
// What is read, and the folder of dumps, which is made: the data file against the program, this machine's CPU.
runtime::Status checkInput(const Options &options, const program::Program &program);
// What checkInput found in the data, for a person: three lines, without --steps two, each with its end.
std::string dataSummary(const Options &options, const program::Program &program);
// What is written: that it can be, and is none of the files that are read.
runtime::Status checkOutput(const Options &options);
// This machine's free memory against what `ranks` ranks on it need.
runtime::Status checkMemory(uint64_t ranks, uint64_t neededBytes);

} // namespace hocket::run
#endif
