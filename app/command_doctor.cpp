#include <fmt/core.h>

#include <string>

#include "app/commands.hpp"
#include "app/devices.hpp"
#include "app/doctor_texts.hpp"
#include "app/version_text.hpp"
#include "base/error.hpp"
#include "base/process_memory.hpp"
#include "base/standard_streams.hpp"
#include "base/units.hpp"
#include "comm/mpi_scope.hpp"
#include "io/spill/spill_file.hpp"
#include "kernels/host/scope.hpp"
#include "run/run_memory.hpp"

namespace spillway {
namespace {

// Returns a text that says how a run would move the bytes of a spill file in `directory`, or why no
// spill file can be made there.
std::string spilling_there(std::string const& directory) {
  try {
    SpillFile const file(directory, kSpillAlignment, {.queue = queue_settings(Config{})});
    return spilling_text(file.backend(), file.direct(), file.advice());
  } catch (Error const& error) {
    return fmt::format("spilling there      no: {}\n", error.what());
  }
}

}  // namespace

Status run_doctor(std::string const& directory) {
  auto const machine = fmt::format(
      "{}\n\nMPI                 {}\ncores               {}\n{}free memory         {}\n"
      "devices             {}\n",
      version_text(), mpi_version(), available_cores(),
      threads_text(team_limit(), available_cores()), human_bytes(available_memory_bytes()),
      device_text());
  print_result(machine + devices_text() + ring_text(probe_ring()) +
               directory_text(directory, probe_directory(directory)) + spilling_there(directory));
  return Status::done;
}

}  // namespace spillway
