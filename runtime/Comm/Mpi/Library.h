// libmpi, opened at run time: an executable starts on a machine without MPI as long as nobody asks for it. The
// functions are those of MPI 3.1 that the communicator needs; none of them waits for another rank but init and
// finalize. Compiled for the interface of Open MPI (3 to 5, libmpi.so.40), which is checked when the build is
// configured.
#ifndef HOCKET_RUNTIME_COMM_MPI_LIBRARY_H
#define HOCKET_RUNTIME_COMM_MPI_LIBRARY_H

#include "runtime/Program/Result.h"
#define OMPI_SKIP_MPICXX 1
#include <mpi.h>

namespace hocket::runtime::mpi {

struct Library {
  decltype(&MPI_Init_thread) initThread;
  decltype(&MPI_Finalize) finalize;
  decltype(&MPI_Comm_rank) commRank;
  decltype(&MPI_Comm_size) commSize;
  decltype(&MPI_Comm_get_attr) commGetAttr;
  decltype(&MPI_Comm_set_errhandler) commSetErrhandler;
  decltype(&MPI_Error_string) errorString;
  decltype(&MPI_Isend) isend;
  decltype(&MPI_Issend) issend;
  decltype(&MPI_Irecv) irecv;
  decltype(&MPI_Ibarrier) ibarrier;
  decltype(&MPI_Test) test;
  decltype(&MPI_Testall) testall;
  // What the macros MPI_COMM_WORLD, MPI_BYTE, MPI_ERRORS_RETURN and MPI_REQUEST_NULL would take from a linked library.
  MPI_Comm world;
  MPI_Datatype byte;
  MPI_Errhandler errorsReturn;
  MPI_Request noRequest;

  // Opens the library, once a process. Lacking, with the name of its Debian package, where that fails.
  static Result<const Library *> open();

  // What a call that returned `code` says of it.
  std::string text(int code) const;
};

} // namespace hocket::runtime::mpi
#endif
