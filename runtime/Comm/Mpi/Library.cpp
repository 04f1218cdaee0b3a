// See Library.h.
#include "runtime/Comm/Mpi/Library.h"
#include <dlfcn.h>
#include <fmt/format.h>
#include <optional>

#ifndef OPEN_MPI
#error "the handles below are those of Open MPI; configure should have refused another MPI"
#endif

namespace hocket::runtime::mpi {
namespace {

constexpr char file[] = "libmpi.so.40";

Error lacking(std::string_view why) {
  return {ErrorKind::Lacking,
          fmt::format("a run over MPI needs Open MPI's {}, which does not open on this machine (on Debian it is in the "
                      "package libopenmpi3, mpirun in openmpi-bin): {}",
                      file, why),
          {}};
}

// Looks names up and remembers the first that is missing.
class Names {
public:
  explicit Names(void *handle) : handle(handle) {}
  template <class T> void find(T &to, const char *name) {
    to = reinterpret_cast<T>(::dlsym(handle, name));
    if (!to && missing.empty())
      missing = name;
  }
  std::string missing;

private:
  void *handle;
};

Result<Library> openOnce() {
  // Open MPI's own plug-ins look for its symbols among the global ones.
  void *handle = ::dlopen(file, RTLD_NOW | RTLD_GLOBAL);
  if (!handle)
    return lacking(::dlerror());
  Library result{};
  Names names(handle);
  names.find(result.initThread, "MPI_Init_thread");
  names.find(result.finalize, "MPI_Finalize");
  names.find(result.commRank, "MPI_Comm_rank");
  names.find(result.commSize, "MPI_Comm_size");
  names.find(result.commGetAttr, "MPI_Comm_get_attr");
  names.find(result.commSetErrhandler, "MPI_Comm_set_errhandler");
  names.find(result.errorString, "MPI_Error_string");
  names.find(result.isend, "MPI_Isend");
  names.find(result.issend, "MPI_Issend");
  names.find(result.irecv, "MPI_Irecv");
  names.find(result.ibarrier, "MPI_Ibarrier");
  names.find(result.test, "MPI_Test");
  names.find(result.testall, "MPI_Testall");
  names.find(result.world, "ompi_mpi_comm_world");
  names.find(result.byte, "ompi_mpi_byte");
  names.find(result.errorsReturn, "ompi_mpi_errors_return");
  names.find(result.noRequest, "ompi_request_null");
  if (!names.missing.empty())
    return lacking(fmt::format("it has no {}; is it Open MPI's?", names.missing));
  return result;
}

} // namespace

Result<const Library *> Library::open() {
  static const Result<Library> opened = openOnce();
  if (!opened)
    return opened.error();
  return &*opened;
}

std::string Library::text(int code) const {
  char buffer[MPI_MAX_ERROR_STRING] = {};
  int length = 0;
  errorString(code, buffer, &length);
  return buffer;
}

} // namespace hocket::runtime::mpi
