// What the ops of a run are done by.
#pragma once

#include <memory>

#include "device/device.hpp"
#include "kernels/exec.hpp"
#include "kernels/kernel.hpp"
#include "plan/data/program.hpp"
#include "runtime/order_watch.hpp"

namespace spillway {

// These return the kernels of ops that run on the device, and on the host lane.
struct Kernels {
  using Of = Kernel (*)(OpKind);
  Kernels(Of both) : device(both), host(both) {}
  Kernels(Of of_device, Of of_host) : device(of_device), host(of_host) {}
  Of device, host;
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
