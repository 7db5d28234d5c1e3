// What the ops of a run are done by.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "device/device.hpp"
#include "graph/target.hpp"
#include "kernels/exec.hpp"
#include "kernels/kernel.hpp"
#include "plan/data/program.hpp"
#include "runtime/order_watch.hpp"

namespace spillway {

// Holds functions that return the kernels of ops, of those that run on the device and of those on
// the host lane. Graphs get the workspaces of `target`, for which the device's are made
// (make_arithmetic).
struct Kernels {
  using Of = Kernel (*)(OpKind);
  Kernels(Of both) : device(both), host(both) {}
  Kernels(Of of_device, Of of_host, std::string_view made_for = kHostTarget)
      : device(of_device), host(of_host), target(made_for) {}
  Of device, host;
  std::string target{kHostTarget};
};

struct Tiers;
// Makes what an Engine tells of its order. The Program and the Tiers outlive the result.
using MakeWatch = std::unique_ptr<OrderWatch> (*)(Program const&, Tiers const&);

struct Compute {
  Device& device;
  Kernels kernels;
  Exec exec;
  int sharers = 1;  // how many ranks of the node have this device's memory between them
  MakeWatch make_watch = nullptr;  // null except in tests
};

}  // namespace spillway
