// The sample program as one for "cuda": kernels with code that nothing runs, memory for them, and rows in the order of
// issue.
#ifndef HOCKET_TEST_RUNTIME_PROGRAM_GPUSAMPLE_H
#define HOCKET_TEST_RUNTIME_PROGRAM_GPUSAMPLE_H

#include "SampleProgram.h"

namespace hocket::sample {

program::ProgramT cudaSample();
// Puts the rows of every entry into the order of issue; false where there is none.
bool orderRows(program::ProgramT &program);
// The check alone, of a program in the form in which it is written.
std::vector<std::string> faultsOf(const program::ProgramT &program);

} // namespace hocket::sample
#endif
