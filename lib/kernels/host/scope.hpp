// Initializes and finalizes Kokkos, which runs the kernels of a process.
#pragma once

#include <string>

namespace spillway {

// A process has one KernelScope, which main or a command owns, and every Exec must live within it.
// `threads` is the number of threads of the compute lane, which run matrix products, too.
class KernelScope {
 public:
  // Throws Error(bad_input) if `threads` threads are not allowed or cannot be started, or if
  // KOKKOS_TOOLS_LIBS names a tool that cannot be opened, and Error(device) if OpenMP makes a
  // smaller team.
  explicit KernelScope(int threads);
  ~KernelScope();
  KernelScope(KernelScope const&) = delete;
  KernelScope& operator=(KernelScope const&) = delete;
};

// Returns what the host's kernels run on, such as "cpu (Kokkos OpenMP)". No KernelScope is needed.
std::string device_text();

}  // namespace spillway
