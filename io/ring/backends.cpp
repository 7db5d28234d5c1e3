#include "io/ring/backends.hpp"

#include <fmt/core.h>

#include "base/check.hpp"
#include "base/enum_array.hpp"
#include "base/error.hpp"
#include "io/ring/probe.hpp"

namespace spillway {

std::string_view backend_in_words(std::string_view name) {
  constexpr EnumArray<Backend, std::string_view, 3> lines = {
      "io_uring, buffers registered once", "io_uring, buffers pinned for every transfer",
      "threads that call pread and pwrite"};
  auto const backend = parse_word<Backend>(name);
  check(backend.has_value(), name, "is no way to move bytes");
  return lines[*backend];
}

MadeQueue make_transfer_queue(QueueSettings const& settings) {
  if (settings.backend == Backend::posix) return {make_posix_queue(settings.depth), ""};
  int error = 0;
  if (auto queue = make_uring_queue(settings.depth, error)) return {std::move(queue), ""};
  auto const advice = setup_advice(error);
  if (!settings.backend) return {make_posix_queue(settings.depth), advice};
  throw Error(Status::bad_input,
              fmt::format("debug.force_backend: {}: {}", word(settings.backend), advice));
}

}  // namespace spillway
