// Begins and ends the life of Kokkos, which runs the kernels, in a process.
#pragma once

#include <string>

namespace spillway {

// A process has one KernelScope, which main or a command owns, and every Exec must live within it.
// `threads` is the number of threads of the compute lane, which run matrix products, too.
class KernelScope {
 public:
  // Throws Error(bad_input) if that many threads are not allowed or cannot be started.
  explicit KernelScope(int threads);
  ~KernelScope();
  KernelScope(KernelScope const&) = delete;
  KernelScope& operator=(KernelScope const&) = delete;
};

// Returns what the host's kernels run on, such as "cpu (Kokkos OpenMP)". It needs no KernelScope.
std::string device_text();

}  // namespace spillway
