// The order in which the host of a rank issues what a step does on a GPU.
//
// One thread walks the rows of an entry and queues each on its stream: events make streams wait, the thread itself
// never does. Two things must hold of the order of its walk:
//   - the events that a row waits for are recorded before it: every wait is for rows issued before;
//   - over all ranks and communicators together the calls of NCCL are issued in no circle ("A before B" here, "B before
//     A" there): a call may hold up the host until its partner has come, as the first on a connection does, and a GPU
//     that has no room for a call keeps those behind it waiting.
// So the order is that of one execution of all stages together in which a message, and a collective across stages, is
// one moment for all who take part: `issueOrders` finds it when a program for "cuda" is written, and its rows then
// stand in that order. `checkIssueOrder` (Check.h) proves both of the rows of a file, knowing nothing of how they were
// found.
//
// Calls that are issued as one group (CallGroups.h) stand side by side and are all on one communicator: they are one
// call here.
//
// Collectives of one stage, on whatever stream, need no part in that proof. All ranks of a stage issue the same calls
// in the same order, as they run the same program; a circle of calls of ranks is therefore one of calls of stages, and
// a call that one stage alone knows has one call before it and one behind it there: leave it out, and the circle is
// still one. (test/passes/StepToProgram/LaunchOrderTest.cpp holds that against all calls of all ranks.)
//
// 1F1B on two stages:
//   as the schedule names them, first stage     F0, send a0, F1, send a1, receive g0, B0, …
//                               second stage    receive a0, F0, B0, send g0, receive a1, F1, …     a circle of a1 and g0
//   in the order of issue,      second stage    receive a0, F0, receive a1, B0, send g0, F1, …
#ifndef HOCKET_RUNTIME_PROGRAM_ISSUEORDER_H
#define HOCKET_RUNTIME_PROGRAM_ISSUEORDER_H

#include "runtime/Program/program_generated.h"
#include <optional>
#include <string_view>
#include <vector>

namespace hocket::program {

// By stage, the rows of the entry of that name in the order in which they are to be issued. A forward is taken as long
// as half a backward; a message takes no time. Nothing where a stage has no such entry, or rows wait for each other.
// The program is sound but for the order of its rows. Near-linear in rows.
std::optional<std::vector<std::vector<uint32_t>>> issueOrders(const Program &program, std::string_view entry);

// The rows of an entry of a program for "cuda" in the order in which the runtime issues them: as they stand.
std::vector<uint32_t> issueOrder(const Entry &entry);

} // namespace hocket::program
#endif
