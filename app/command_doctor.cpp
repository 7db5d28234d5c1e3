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

// Says how a run would move the bytes of a spill file in `directories`, or why no spill file can be
// made there, which then has the status with which a run would end.
struct Spilling {
  std::string text;
  Status status = Status::done;
};

Spilling spilling_there(std::vector<std::string> const& directories) {
  try {
    require_spill_place(directories);
    SpillFile const file(directories, kSpillAlignment, {.queue = queue_settings(Config{})});
    return {spilling_text(file.backend(), file.direct(), file.advice())};
  } catch (Error const& error) {
    return {found_text("spilling there", fmt::format("no: {}", error.what())), error.status()};
  }
}

std::string text_of_this_machine() {
  auto const cores = available_cores();
  return version_text() + "\n\n" + found_text("MPI", mpi_version()) +
         found_text("cores", std::to_string(cores)) + threads_text(team_limit(), cores) +
         found_text("free memory", human_bytes(available_memory_bytes())) +
         found_text("devices", device_text()) + devices_text();
}

}  // namespace

Status run_doctor(std::vector<std::string> const& directories) {
  std::string places;
  for (auto const& directory : directories)
    places += directory_text(directory, probe_directory(directory));
  places += advice_text(shared_drives_advice(directories));
  auto const spilling = spilling_there(directories);
  print_result(text_of_this_machine() + ring_text(probe_ring()) + places + spilling.text);
  return spilling.status;
}

}  // namespace spillway
