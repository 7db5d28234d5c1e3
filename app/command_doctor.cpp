#include <fmt/core.h>
#include <unistd.h>

#include <cstring>
#include <string_view>

#include "app/commands.hpp"
#include "app/version_text.hpp"
#include "base/error.hpp"
#include "base/units.hpp"
#include "comm/mpi_scope.hpp"
#include "io/ring/probe.hpp"
#include "io/spill/spill_file.hpp"
#include "kernels/scope.hpp"
#include "runtime/process_memory.hpp"
#include "train/run_memory.hpp"

namespace spillway {
namespace {

std::string outcome(int error) {
  return error == 0 ? "yes" : fmt::format("no: {}", std::strerror(error));
}

void print_advice(std::vector<std::string> const& advice) {
  for (auto const& line : advice) fmt::print("  -> {}\n", line);
}

void report_ring() {
  auto const ring = probe_ring();
  fmt::print("io_uring            {}\n", outcome(ring.setup_error));
  if (ring.setup_error == 0) fmt::print("  fixed buffers     {}\n", outcome(ring.register_error));
  fmt::print("  memlock limit     {}\n",
             ring.memlock_bytes ? human_bytes(*ring.memlock_bytes) : "none");
  print_advice(ring.advice);
}

void report_directory(std::string const& directory) {
  auto const disk = probe_directory(directory);
  fmt::print("directory           {} ({})\n", directory, disk.file_system);
  fmt::print("  writable          {}\n", outcome(disk.write_error));
  fmt::print("  free              {}\n", human_bytes(disk.free_bytes));
  fmt::print("  O_DIRECT          {}", outcome(disk.direct_error));
  if (disk.direct_alignment_bytes > 0)
    fmt::print(", {} bytes aligned", disk.direct_alignment_bytes);
  fmt::print("\n");
  print_advice(disk.advice);
}

constexpr std::string_view kRegister =
    "debug.force_backend: uring registers buffers, and makes all of memory.device resident at once";

// A spill file as a run makes it, for as long as this takes.
void report_spilling(std::string const& directory) {
  try {
    SpillFile const file(directory, kSpillAlignment, {.queue = queue_settings(Config{}, {})});
    fmt::print("spilling there      {}: {}\n", file.backend(), backend_in_words(file.backend()));
    fmt::print("  page cache        {}\n", file.direct() ? "passed by" : "in between");
    print_advice(file.advice());
    if (file.backend() == std::string_view("uring-plain")) print_advice({std::string(kRegister)});
  } catch (Error const& error) {
    fmt::print("spilling there      no: {}\n", error.what());
  }
}

}  // namespace

Status run_doctor(std::string const& directory) {
  fmt::print("{}\n\n", version_text());
  fmt::print("MPI                 {}\n", mpi_version());
  fmt::print("cores               {}\n", available_cores());
  fmt::print("free memory         {}\n", human_bytes(available_memory_bytes()));
  fmt::print("devices             {}\n", device_text());
  report_ring();
  report_directory(directory);
  report_spilling(directory);
  return Status::done;
}

}  // namespace spillway
