// How ranks that know nothing but the host and port of rank 0 find each other: all others say who they are, and rank 0
// says to all whether the run begins, or why not. What they talk over afterwards is another connection
// (Mpi/Lifeline.h), of which rank 0 tells here where it is.
//
//   to rank 0     hocket-rank 1 RANK SIZE JOB HOST PID\n       1: of this protocol
//   from rank 0   yes\n and a Meeting, or no KIND TEXT\n       when all have come or something is wrong
#ifndef HOCKET_RUNTIME_COMM_TCP_RENDEZVOUS_H
#define HOCKET_RUNTIME_COMM_TCP_RENDEZVOUS_H

#include "runtime/Comm/Mpi/Sockets.h"
#include "runtime/Comm/Tcp/Place.h"

namespace hocket::runtime::tcp {

// Rank 0: listens at the place's port (Lacking where it cannot).
Result<mpi::Socket> listenAt(const Place &place);
// Waits until all have come, and tells them `meeting`. Invalid where two processes are one rank, or say another number
// of ranks; Timeout with the ranks that have not come, or that ended while they waited. All that came hear the same.
Status gather(const Place &place, const mpi::Socket &listening, const mpi::Meeting &meeting, double seconds);
// The others. Timeout where rank 0 does not listen or answer; what it says otherwise.
Result<mpi::Meeting> report(const Place &place, double seconds);

} // namespace hocket::runtime::tcp
#endif
