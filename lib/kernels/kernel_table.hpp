// The kernels of all kinds of ops in one kind of memory, as those see them who launch them.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "graph/target.hpp"
#include "kernels/exec.hpp"
#include "kernels/kernel.hpp"

namespace spillway {

inline std::unique_ptr<Exec const> plain_exec(void* /*stream*/) {
  return std::make_unique<Exec>();
}

struct KernelTable {
  using Of = Kernel (*)(OpKind);
  // Makes what launches go to: a stream of the device (Stream::handle), which must outlive it; null
  // where launches have ended when they return, and to ask for `concurrency` alone.
  using MakeExec = std::unique_ptr<Exec const> (*)(void* stream);

  KernelTable(Of kernel_of, MakeExec make_exec = plain_exec) : of(kernel_of), exec(make_exec) {}
  Of of;
  MakeExec exec;
};

// Holds the kernels of ops that run on the device, and those of the host lane. Graphs get the
// workspaces of `target`, for which the device's are made (make_arithmetic).
struct Kernels {
  Kernels(KernelTable both) : device(both), host(both.of) {}
  Kernels(KernelTable of_device, KernelTable::Of of_host, std::string_view made_for = kHostTarget)
      : device(of_device), host(of_host), target(made_for) {}
  KernelTable device;
  KernelTable::Of host;
  std::string target{kHostTarget};
};

}  // namespace spillway
