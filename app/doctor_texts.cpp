#include "app/doctor_texts.hpp"

#include <fmt/core.h>

#include <cstring>

#include "base/units.hpp"
#include "io/ring/backends.hpp"

namespace spillway {
namespace {

constexpr std::string_view kRegister =
    "beside a device with memory of its own a run registers what the drive uses; on the cores only "
    "with debug.force_backend: uring, which makes it resident at once and has gained nothing yet";

std::string outcome(int error) {
  return error == 0 ? "yes" : fmt::format("no: {}", std::strerror(error));
}

}  // namespace

std::string advice_text(std::vector<std::string> const& advice) {
  std::string text;
  for (auto const& line : advice) text += fmt::format("  -> {}\n", line);
  return text;
}

std::string threads_text(TeamLimit const& limit, std::int64_t cores) {
  if (limit.threads >= cores) return "threads             as many as cores\n";
  return fmt::format("threads             {}\n", limit.threads) +
         advice_text({name(limit.by) + " allows no more: raise or unset it to use all cores"});
}

std::string ring_text(RingProbe const& ring) {
  auto text = fmt::format("io_uring            {}\n", outcome(ring.setup_error));
  if (ring.setup_error == 0)
    text += fmt::format("  fixed buffers     {}\n", outcome(ring.register_error));
  text += fmt::format("  memlock limit     {}\n",
                      ring.memlock_bytes ? human_bytes(*ring.memlock_bytes) : "none");
  return text + advice_text(ring.advice);
}

std::string directory_text(std::string const& directory, DirectoryProbe const& disk) {
  auto text = fmt::format("directory           {} ({})\n", directory, disk.file_system);
  text += fmt::format("  writable          {}\n", outcome(disk.write_error));
  text += fmt::format("  free              {}\n", human_bytes(disk.free_bytes));
  text += fmt::format("  O_DIRECT          {}", outcome(disk.direct_error));
  if (disk.direct_alignment_bytes > 0)
    text += fmt::format(", {} bytes aligned", disk.direct_alignment_bytes);
  return text + "\n" + advice_text(disk.advice);
}

std::string spilling_text(std::string_view backend, bool direct,
                          std::vector<std::string> const& advice) {
  auto text = fmt::format("spilling there      {}: {}\n", backend, backend_in_words(backend));
  text += fmt::format("  page cache        {}\n", direct ? "passed by" : "in between");
  text += advice_text(advice);
  bool const has_ring = backend == word(Backend::uring_plain);
  return has_ring ? text + advice_text({std::string(kRegister)}) : text;
}

}  // namespace spillway
