// A kind of device with memory of its own that a program can compute on.
#pragma once

#include <memory>
#include <string_view>

#include "device/device.hpp"
#include "runtime/compute.hpp"

namespace spillway {

struct DeviceBackend {
  std::string_view name;                        // in run.device: "cuda"
  int (*count)() noexcept;                      // how many this process sees
  std::unique_ptr<Device> (*open)(int number);  // throws Error(device)
  Kernels kernels;
  MakeWatch make_watch = nullptr;  // null except in tests
};

// How many devices this process sees; null: the program is for the cores alone.
inline int count_devices(DeviceBackend const* backend) {
  return backend == nullptr ? 0 : backend->count();
}

}  // namespace spillway
