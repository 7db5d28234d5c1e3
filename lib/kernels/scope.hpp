// The life of the kernels' runtime in a process.
#pragma once

namespace spillway {

// Owned by main (or a command), once per process; every Exec lives inside it. `threads` are the
// compute lane's; matrix products share them.
class KernelScope {
 public:
  explicit KernelScope(int threads);
  ~KernelScope();
  KernelScope(KernelScope const&) = delete;
  KernelScope& operator=(KernelScope const&) = delete;
};

}  // namespace spillway
