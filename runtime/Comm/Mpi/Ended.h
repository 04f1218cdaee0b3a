// What ended a run early.
#ifndef HOCKET_RUNTIME_COMM_MPI_ENDED_H
#define HOCKET_RUNTIME_COMM_MPI_ENDED_H

#include <optional>
#include <string>

namespace hocket::runtime::mpi {

struct Ended {
  int rank; // -1: whoever started the run
  std::string why;
};

} // namespace hocket::runtime::mpi
#endif
