#include <fmt/core.h>
#include <unistd.h>

#include <cstring>
#include <string_view>

#include "app/commands.hpp"
#include "app/devices.hpp"
#include "app/version_text.hpp"
#include "base/error.hpp"
#include "base/process_memory.hpp"
#include "base/standard_streams.hpp"
#include "base/units.hpp"
#include "comm/mpi_scope.hpp"
#include "io/ring/probe.hpp"
#include "io/spill/spill_file.hpp"
#include "kernels/scope.hpp"
#include "kernels/team/team.hpp"
#include "run/run_memory.hpp"

namespace spillway {
namespace {

std::string outcome(int error) {
  return error == 0 ? "yes" : fmt::format("no: {}", std::strerror(error));
}

std::string advice_text(std::vector<std::string> const& advice) {
  std::string text;
  for (auto const& line : advice) text += fmt::format("  -> {}\n", line);
  return text;
}

std::string threads_text() {
  auto const limit = team_limit();
  if (limit.threads >= available_cores()) return "as many as cores\n";
  return fmt::format("{}\n  -> {} allows no more: raise or unset it to use all cores\n",
                     limit.threads, name(limit.by));
}

std::string ring_text() {
  auto const ring = probe_ring();
  auto text = fmt::format("io_uring            {}\n", outcome(ring.setup_error));
  if (ring.setup_error == 0)
    text += fmt::format("  fixed buffers     {}\n", outcome(ring.register_error));
  text += fmt::format("  memlock limit     {}\n",
                      ring.memlock_bytes ? human_bytes(*ring.memlock_bytes) : "none");
  return text + advice_text(ring.advice);
}

std::string directory_text(std::string const& directory) {
  auto const disk = probe_directory(directory);
  auto text = fmt::format("directory           {} ({})\n", directory, disk.file_system);
  text += fmt::format("  writable          {}\n", outcome(disk.write_error));
  text += fmt::format("  free              {}\n", human_bytes(disk.free_bytes));
  text += fmt::format("  O_DIRECT          {}", outcome(disk.direct_error));
  if (disk.direct_alignment_bytes > 0)
    text += fmt::format(", {} bytes aligned", disk.direct_alignment_bytes);
  return text + "\n" + advice_text(disk.advice);
}

constexpr std::string_view kRegister =
    "beside a device with memory of its own a run registers what the drive uses; on the cores only "
    "with debug.force_backend: uring, which makes it resident at once and has gained nothing yet";

// A spill file as a run makes it, for as long as this takes.
std::string spilling_text(std::string const& directory) {
  try {
    SpillFile const file(directory, kSpillAlignment, {.queue = queue_settings(Config{})});
    auto text = fmt::format("spilling there      {}: {}\n", file.backend(),
                            backend_in_words(file.backend()));
    text += fmt::format("  page cache        {}\n", file.direct() ? "passed by" : "in between");
    text += advice_text(file.advice());
    bool const has_ring = file.backend() == std::string_view("uring-plain");
    return has_ring ? text + advice_text({std::string(kRegister)}) : text;
  } catch (Error const& error) {
    return fmt::format("spilling there      no: {}\n", error.what());
  }
}

}  // namespace

Status run_doctor(std::string const& directory) {
  auto const machine = fmt::format(
      "{}\n\nMPI                 {}\ncores               {}\nthreads             {}"
      "free memory         {}\ndevices             {}\n",
      version_text(), mpi_version(), available_cores(), threads_text(),
      human_bytes(available_memory_bytes()), device_text());
  print_result(machine + devices_text() + ring_text() + directory_text(directory) +
               spilling_text(directory));
  return Status::done;
}

}  // namespace spillway
