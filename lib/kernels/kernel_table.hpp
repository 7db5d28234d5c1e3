// A KernelTable gives the kernels of all kinds of ops for one kind of memory, and makes the Execs
// on which these kernels are launched.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "graph/target.hpp"
#include "kernels/exec.hpp"
#include "kernels/kernel.hpp"

namespace spillway {

inline std::unique_ptr<Exec const> plain_exec(void* /*stream*/) {
  return std::make_unique<Exec>();
}

// Finds algorithms for the matrix products of `ops` on the device that the calling thread has
// chosen, whose name is `device_name`. Keeps those of `known` that are of the same device and
// library, and that the library still takes. Returns the algorithms of these products and no
// others. Throws Error(device).
using ChooseProducts = ProductChoices (*)(KernelContext const& context, std::span<Op const> ops,
                                          std::string_view device_name,
                                          ProductChoices const& known);

struct KernelTable {
  using Of = Kernel (*)(OpKind);
  // Makes an Exec. `stream` is a stream of the device (Stream::handle) and must outlive the Exec.
  // `stream` is null for kernels whose launches return after the work has ended, and if only
  // `concurrency` of the Exec will be called.
  using MakeExec = std::unique_ptr<Exec const> (*)(void* stream);

  KernelTable(Of kernel_of, MakeExec make_exec = plain_exec, ChooseProducts choose = nullptr)
      : of(kernel_of), exec(make_exec), choose_products(choose) {}
  Of of;
  MakeExec exec;
  ChooseProducts choose_products;  // null if the kernels need no ProductChoices
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
