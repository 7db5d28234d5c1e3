#include "comm/mpi_scope.hpp"

#include <fmt/core.h>
#include <mpi.h>

#include "base/error.hpp"
#include "comm/mpi_comm.hpp"

namespace spillway {

MpiScope::MpiScope(int& argc, char**& argv) {
  int provided = 0;
  if (MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided) != MPI_SUCCESS) {
    throw Error(Status::bad_input, "MPI does not start; see its messages above");
  }
  if (provided < MPI_THREAD_SERIALIZED) {
    throw Error(Status::bad_input,
                "this MPI cannot be called by other threads than main (MPI_THREAD_SERIALIZED); "
                "use a build of it with thread support");
  }
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
}

MpiScope::~MpiScope() {
  MPI_Finalize();
}

namespace {

MPI_Comm copy_of_world() {
  MPI_Comm copy = MPI_COMM_NULL;
  check_mpi(MPI_Comm_dup(MPI_COMM_WORLD, &copy), "MPI_Comm_dup");
  MPI_Comm_set_errhandler(copy, MPI_ERRORS_RETURN);
  return copy;
}

}  // namespace

std::unique_ptr<Comm> make_world_comm(CommSettings const& settings) {
  auto const data = copy_of_world(), control = copy_of_world();
  MPI_Comm node = MPI_COMM_NULL;
  check_mpi(MPI_Comm_split_type(data, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node),
            "MPI_Comm_split_type");
  auto comm = std::make_unique<MpiComm>(data, control, node, settings);
  MPI_Comm_free(&node);
  comm->meet_peers();
  return comm;
}

std::string mpi_version() {
  char text[MPI_MAX_LIBRARY_VERSION_STRING] = {};
  int length = 0;
  MPI_Get_library_version(text, &length);
  std::string const line(text, static_cast<std::size_t>(length));
  return line.substr(0, line.find_first_of(",\n"));
}

}  // namespace spillway
