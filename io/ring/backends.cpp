#include "io/ring/backends.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cassert>

#include "base/error.hpp"
#include "io/ring/probe.hpp"

namespace spillway {
namespace {

[[noreturn]] void fail(char const* backend, std::string const& advice) {
  throw Error(Status::bad_input, fmt::format("debug.force_backend: {}: {}", backend, advice));
}

}  // namespace

Backend backend(std::string_view name) {
  constexpr std::string_view names[] = {"auto", "uring", "uring-plain", "posix"};
  auto const at = std::ranges::find(names, name) - names;
  assert(at < std::ssize(names));
  return static_cast<Backend>(at);
}

std::string_view backend_in_words(std::string_view name) {
  if (name == "uring") return "io_uring, buffers registered once";
  if (name == "uring-plain") return "io_uring, buffers pinned for every transfer";
  assert(name == "posix");
  return "threads that call pread and pwrite";
}

MadeQueue make_transfer_queue(QueueSettings const& settings) {
  if (settings.backend == Backend::posix) return {make_posix_queue(settings.depth), ""};
  int error = 0, plain_error = 0;
  if (settings.backend != Backend::uring_plain) {
    if (auto queue = make_uring_queue(settings, error)) return {std::move(queue), ""};
  }
  auto plain = make_uring_plain_queue(settings.depth, plain_error);
  auto const advice =
      plain ? register_advice(std::ssize(settings.buffer), error) : setup_advice(plain_error);
  if (settings.backend == Backend::uring) fail("uring", advice);
  if (settings.backend == Backend::uring_plain) {
    if (!plain) fail("uring-plain", advice);
    return {std::move(plain), ""};
  }
  if (plain) return {std::move(plain), advice};
  return {make_posix_queue(settings.depth), advice};
}

}  // namespace spillway
