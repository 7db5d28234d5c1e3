// What the ops of a run are done by.
#pragma once

#include "device/device.hpp"
#include "kernels/exec.hpp"
#include "kernels/kernel.hpp"

namespace spillway {

// These return the kernels of ops that run on the device, and on the host lane.
struct Kernels {
  using Of = Kernel (*)(OpKind);
  Kernels(Of both) : device(both), host(both) {}
  Kernels(Of of_device, Of of_host) : device(of_device), host(of_host) {}
  Of device, host;
};

struct Compute {
  Device& device;
  Kernels kernels;
  Exec exec;
};

}  // namespace spillway
