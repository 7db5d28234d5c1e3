#include "app/doctor_texts.hpp"

#include <fmt/core.h>

#include <cstring>

#include "base/units.hpp"
#include "base/wrapped.hpp"
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

std::string found_text(std::string_view name, std::string_view found) {
  return wrapped_row(name, found, 20);
}

std::string advice_text(std::vector<std::string> const& advice) {
  std::string text;
  for (auto const& line : advice) text += wrapped_line("  -> " + line, "     ");
  return text;
}

std::string threads_text(TeamLimit const& limit, std::int64_t cores) {
  if (limit.threads >= cores) return found_text("threads", "as many as cores");
  return found_text("threads", std::to_string(limit.threads)) +
         advice_text({name(limit.by) + " allows no more: raise or unset it to use all cores"});
}

std::string ring_text(RingProbe const& ring) {
  auto text = found_text("io_uring", outcome(ring.setup_error));
  if (ring.setup_error == 0) text += found_text("  fixed buffers", outcome(ring.register_error));
  text +=
      found_text("  memlock limit", ring.memlock_bytes ? human_bytes(*ring.memlock_bytes) : "none");
  return text + advice_text(ring.advice);
}

std::string directory_text(std::string const& directory, DirectoryProbe const& disk) {
  auto const aligned = disk.direct_alignment_bytes > 0
                           ? fmt::format(", {} bytes aligned", disk.direct_alignment_bytes)
                           : std::string();
  return found_text("directory", fmt::format("{} ({})", directory, disk.file_system)) +
         found_text("  writable", outcome(disk.write_error)) +
         found_text("  free", human_bytes(disk.free_bytes)) +
         found_text("  O_DIRECT", outcome(disk.direct_error) + aligned) + advice_text(disk.advice);
}

std::string spilling_text(std::string_view backend, bool direct,
                          std::vector<std::string> const& advice) {
  auto text =
      found_text("spilling there", fmt::format("{}: {}", backend, backend_in_words(backend))) +
      found_text("  page cache", direct ? "passed by" : "in between");
  text += advice_text(advice);
  bool const has_ring = backend == word(Backend::uring_plain);
  return has_ring ? text + advice_text({std::string(kRegister)}) : text;
}

}  // namespace spillway
