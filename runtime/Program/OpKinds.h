// What kinds of instructions have in common.
#ifndef HOCKET_RUNTIME_PROGRAM_OPKINDS_H
#define HOCKET_RUNTIME_PROGRAM_OPKINDS_H

#include "runtime/Program/program_generated.h"

namespace hocket::program {

// Whether ranks do it together: AllReduce to Shift.
constexpr bool isCollective(Op op) { return op >= Op::AllReduce && op <= Op::Shift; }

} // namespace hocket::program
#endif
