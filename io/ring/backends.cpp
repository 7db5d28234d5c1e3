#include "io/ring/backends.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "base/check.hpp"
#include "base/error.hpp"
#include "io/ring/probe.hpp"

namespace spillway {
namespace {

constexpr std::string_view kNames[] = {"auto", "uring", "uring-plain", "posix"};

std::string_view name(Backend backend) {
  return kNames[static_cast<std::size_t>(backend)];
}

}  // namespace

Backend backend(std::string_view name) {
  auto const at = std::ranges::find(kNames, name) - kNames;
  check(at < std::ssize(kNames), name, "is no way to move bytes");
  return static_cast<Backend>(at);
}

std::string_view backend_in_words(std::string_view name) {
  if (name == "uring") return "io_uring, buffers registered once";
  if (name == "uring-plain") return "io_uring, buffers pinned for every transfer";
  check(name == "posix", name, "is no way to move bytes");
  return "threads that call pread and pwrite";
}

MadeQueue make_transfer_queue(QueueSettings const& settings) {
  if (settings.backend == Backend::posix) return {make_posix_queue(settings.depth), ""};
  int error = 0;
  if (auto queue = make_uring_queue(settings.depth, error)) return {std::move(queue), ""};
  auto const advice = setup_advice(error);
  if (settings.backend == Backend::automatic) return {make_posix_queue(settings.depth), advice};
  throw Error(Status::bad_input,
              fmt::format("debug.force_backend: {}: {}", name(settings.backend), advice));
}

}  // namespace spillway
