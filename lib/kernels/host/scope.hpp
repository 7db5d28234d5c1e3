// Begins and ends the life of Kokkos, which runs the kernels, in a process.
#pragma once

#include <string>

namespace spillway {

// Main, or a command, owns a KernelScope, one per process, and every Exec must live within it.
// `threads` are those of the compute lane, which matrix products share.
class KernelScope {
 public:
  // Throws Error(bad_input) if that many threads are not allowed or cannot be started.
  explicit KernelScope(int threads);
  ~KernelScope();
  KernelScope(KernelScope const&) = delete;
  KernelScope& operator=(KernelScope const&) = delete;
};

// Returns what the host's kernels run on, such as "cpu (Kokkos OpenMP)". It needs no scope.
std::string device_text();

}  // namespace spillway
