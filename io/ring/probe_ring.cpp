#include <fmt/core.h>
#include <liburing.h>
#include <sys/resource.h>

#include <cerrno>
#include <memory>
#include <new>
#include <utility>

#include "base/error_text.hpp"
#include "io/file/file.hpp"
#include "io/ring/probe.hpp"

namespace spillway {
namespace {

constexpr std::size_t page_bytes = 4096;

std::optional<std::int64_t> memlock_bytes() {
  rlimit limit{};
  ::getrlimit(RLIMIT_MEMLOCK, &limit);
  if (limit.rlim_cur == RLIM_INFINITY) return {};
  return static_cast<std::int64_t>(limit.rlim_cur);
}

std::vector<std::string> operations_missing_of(io_uring* ring) {
  std::unique_ptr<io_uring_probe, void (*)(io_uring_probe*)> const offered{
      io_uring_get_probe_ring(ring), io_uring_free_probe};
  if (!offered) return {"probing operations (Linux 5.6)"};
  return missing_operations(*offered);
}

// Returns the errno of registering a buffer of this size, or 0 if it works.
int try_register(io_uring* ring, std::int64_t bytes) {
  auto const size = static_cast<std::size_t>(bytes);
  void* const memory = ::operator new (size, std::align_val_t{page_bytes}, std::nothrow);
  if (memory == nullptr) return ENOMEM;
  iovec const buffer{memory, size};
  int const result = io_uring_register_buffers(ring, &buffer, 1);
  if (result == 0) io_uring_unregister_buffers(ring);
  ::operator delete (memory, std::align_val_t{page_bytes});
  return -result;
}

}  // namespace

// Setting up an io_uring may fail with ENOMEM before Linux 5.12, because until then an io_uring's
// own memory counted as locked memory.
std::string setup_advice(int error) {
  switch (error) {
    case EPERM:
    case EACCES:
      return "io_uring is forbidden here (EPERM): set kernel.io_uring_disabled to 0, or let the "
             "container's seccomp profile allow io_uring_setup, io_uring_enter, io_uring_register";
    case ENOSYS:
      return "this kernel has no io_uring (ENOSYS): Linux 5.11 or later is needed, or a sandbox "
             "hides it";
    case ENOMEM:
      return "no locked memory left for a ring (ENOMEM): raise `ulimit -l` (memlock in "
             "/etc/security/limits.conf)";
    default:
      return fmt::format("io_uring cannot be set up: {}", error_text(error));
  }
}

std::string register_advice(std::int64_t bytes, int error) {
  if (error != ENOMEM) {
    return fmt::format("buffers cannot be registered ({}); plain buffers will be used",
                       error_text(error));
  }
  return fmt::format(
      "{} bytes cannot be registered with a locked-memory limit of {}; raise "
      "`ulimit -l` (memlock in /etc/security/limits.conf), else plain buffers are used",
      bytes, memlock_bytes().value_or(0));
}

std::vector<std::string> missing_features(unsigned features) {
  std::pair<unsigned, char const*> const wanted[] = {
      {IORING_FEAT_NODROP, "completions are never dropped (Linux 5.5)"},
      {IORING_FEAT_EXT_ARG, "waiting with a timeout (Linux 5.11)"},
      {IORING_FEAT_NATIVE_WORKERS, "native workers (Linux 5.12)"}};
  std::vector<std::string> missing;
  for (auto const& [bit, text] : wanted) {
    if (!(features & bit)) missing.emplace_back(text);
  }
  return missing;
}

std::vector<std::string> missing_operations(io_uring_probe const& offered) {
  std::pair<int, char const*> const wanted[] = {{IORING_OP_READ, "read"},
                                                {IORING_OP_WRITE, "write"},
                                                {IORING_OP_READ_FIXED, "read_fixed"},
                                                {IORING_OP_WRITE_FIXED, "write_fixed"}};
  std::vector<std::string> missing;
  for (auto const& [op, text] : wanted) {
    if (!io_uring_opcode_supported(&offered, op)) missing.emplace_back(text);
  }
  return missing;
}

std::vector<std::string> ring_advice(RingProbe const& probe) {
  std::vector<std::string> advice;
  if (!probe.fixed_buffers)
    advice.push_back(register_advice(probe.register_bytes, probe.register_error));
  if (!probe.missing_operations.empty() || !probe.missing_features.empty())
    advice.push_back("this kernel's io_uring is old: Linux 5.12 or later has all we use");
  return advice;
}

RingProbe probe_ring(std::int64_t register_bytes) {
  RingProbe probe;
  probe.memlock_bytes = memlock_bytes();
  probe.register_bytes = register_bytes;
  io_uring ring{};
  probe.setup_error = -io_uring_queue_init(8, &ring, 0);
  if (probe.setup_error != 0) {
    probe.advice.push_back(setup_advice(probe.setup_error));
    return probe;
  }
  probe.missing_features = missing_features(ring.features);
  probe.missing_operations = operations_missing_of(&ring);
  probe.register_error = try_register(&ring, register_bytes);
  probe.fixed_buffers = probe.register_error == 0;
  io_uring_queue_exit(&ring);
  probe.advice = ring_advice(probe);
  return probe;
}

}  // namespace spillway
