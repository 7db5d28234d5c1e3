// What this program can compute on beside the cores of its machine.
#pragma once

#include <memory>
#include <string_view>

#include "device/device.hpp"
#include "runtime/compute.hpp"

namespace spillway {

// One kind of device with memory of its own.
struct DeviceBackend {
  std::string_view name;                        // in run.device: "cuda"
  int (*count)() noexcept;                      // how many this process sees
  std::unique_ptr<Device> (*open)(int number);  // throws Error(device)
  Kernels kernels;
  MakeWatch make_watch = nullptr;  // null except in tests
};

// Returns null if this program is for the cores alone. Each program is linked to one definition.
DeviceBackend const* device_backend();

}  // namespace spillway
