#include "tests/support/kernel_watch.hpp"

#include <cstdio>
#include <cstring>

namespace spillway::test {
namespace {

namespace Tools = Kokkos::Tools::Experimental;

// These are globals because callbacks are plain functions. Nothing here allocates, because tests
// also check that launches do not allocate.
struct Seen {
  std::uint32_t expected = 0;
  int launches = 0;
  bool stray = false;
  char label[128] = {};
} seen;

void see(char const* label, std::uint32_t device, std::uint64_t*) {
  ++seen.launches;
  bool const ours = std::strncmp(label, "spillway::", 10) == 0;
  if (seen.stray || (ours && device == seen.expected)) return;
  seen.stray = true;
  std::snprintf(seen.label, sizeof seen.label, "%s", label);
}

void watch_with(Kokkos_Profiling_beginFunction callback) {
  Tools::set_begin_parallel_for_callback(callback);
  Tools::set_begin_parallel_reduce_callback(callback);
  Tools::set_begin_parallel_scan_callback(callback);
}

}  // namespace

KernelWatch::KernelWatch(Exec const& expected) {
  seen = {};
  seen.expected = Tools::device_id(host::instance_of(expected));
  watch_with(see);
}

KernelWatch::~KernelWatch() {
  watch_with(nullptr);
}

int KernelWatch::launches() const {
  return seen.launches;
}

std::string KernelWatch::stray() const {
  return seen.label;
}

}  // namespace spillway::test
