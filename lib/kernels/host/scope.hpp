// The life of the kernels' runtime in a process.
#pragma once

#include <string>

namespace spillway {

// Owned by main (or a command), once per process; every Exec lives inside it. `threads` are the
// compute lane's; matrix products share them.
class KernelScope {
 public:
  // Throws Error(bad_input) if there cannot be so many.
  explicit KernelScope(int threads);
  ~KernelScope();
  KernelScope(KernelScope const&) = delete;
  KernelScope& operator=(KernelScope const&) = delete;
};

// What the host's kernels run on: "cpu (Kokkos OpenMP)"; also outside of a scope.
std::string device_text();

}  // namespace spillway
