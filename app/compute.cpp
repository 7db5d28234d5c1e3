#include "app/compute.hpp"

#include "device/host/host_device.hpp"

namespace spillway {

Compute compute_here() {
  return {host_device(), kernel, Exec()};
}

}  // namespace spillway
