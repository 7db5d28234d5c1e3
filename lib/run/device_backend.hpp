// A DeviceBackend supports one kind of device that has memory of its own.
#pragma once

#include <memory>
#include <string_view>

#include "device/device.hpp"
#include "runtime/compute.hpp"

namespace spillway {

struct DeviceBackend {
  std::string_view name;                        // as run.device spells it, such as "cuda"
  int (*count)() noexcept;                      // returns how many devices this process sees
  std::unique_ptr<Device> (*open)(int number);  // throws Error(device)
  Kernels kernels;
  MakeWatch make_watch = nullptr;  // null except in tests
};

// Returns how many devices this process sees. `backend` is null if the program supports CPUs only.
inline int count_devices(DeviceBackend const* backend) {
  return backend == nullptr ? 0 : backend->count();
}

}  // namespace spillway
