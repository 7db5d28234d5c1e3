#include <fmt/core.h>

#include <string>
#include <vector>

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
#include "profile/drives.hpp"
#include "run/run_memory.hpp"

namespace spillway {
namespace {

// Returns a text that says how a run would move the bytes of a spill file in `directories`, or why
// no spill file can be made there.
std::string spilling_there(std::vector<std::string> const& directories) {
  try {
    require_spill_place(directories);
    SpillFile const file(directories, kSpillAlignment, {.queue = queue_settings(Config{})});
    return spilling_text(file.backend(), file.direct(), file.advice());
  } catch (Error const& error) {
    return fmt::format("spilling there      no: {}\n", error.what());
  }
}

}  // namespace

Status run_doctor(std::vector<std::string> const& directories) {
  auto const machine = fmt::format(
      "{}\n\nMPI                 {}\ncores               {}\n{}free memory         {}\n"
      "devices             {}\n",
      version_text(), mpi_version(), available_cores(),
      threads_text(team_limit(), available_cores()), human_bytes(available_memory_bytes()),
      device_text());
  std::string places;
  for (auto const& directory : directories)
    places += directory_text(directory, probe_directory(directory));
  places += advice_text(shared_drives_advice(directories));
  print_result(machine + devices_text() + ring_text(probe_ring()) + places +
               spilling_there(directories));
  return Status::done;
}

}  // namespace spillway
