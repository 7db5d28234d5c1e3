// A KernelTable gives the kernels of all kinds of ops for one kind of memory, and makes the Execs
// on which these kernels are launched.
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
  // Makes an Exec. `stream` is a stream of the device (Stream::handle) and must outlive the Exec.
  // `stream` is null for kernels whose launches return after the work has ended, and if only
  // `concurrency` of the Exec will be called.
  using MakeExec = std::unique_ptr<Exec const> (*)(void* stream);

  KernelTable(Of kernel_of, MakeExec make_exec = plain_exec) : of(kernel_of), exec(make_exec) {}
  Of of;
  MakeExec exec;
};

// `device` has the kernels of ops that run on the device, `host` those of ops on the host lane.
// `target` names what the device's kernels are made for, and thereby decides the sizes of
// workspaces.
struct Kernels {
  Kernels(KernelTable both) : device(both), host(both.of) {}
  Kernels(KernelTable of_device, KernelTable::Of of_host, std::string_view made_for = kHostTarget)
      : device(of_device), host(of_host), target(made_for) {}
  KernelTable device;
  KernelTable::Of host;
  std::string target{kHostTarget};
};

}  // namespace spillway
