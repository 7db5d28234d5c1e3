// A DeviceBackend supports one kind of device that has memory of its own.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "device/device.hpp"
#include "runtime/compute.hpp"

namespace spillway {

struct DeviceBackend {
  std::string_view name;                // is as run.device spells it, such as "cuda"
  int (*count)() noexcept = nullptr;    // returns how many devices this process sees
  std::string (*why_none)() = nullptr;  // says why this process sees no device
  // Says why a device that is seen cannot be used, or returns "" if it can. Null: all can be used.
  std::string (*why_not)(int number) = nullptr;
  std::unique_ptr<Device> (*open)(int number) = nullptr;  // throws Error(device)
  // Begins the runtime of the kernels on a device that open() returned, and returns the kernels. A
  // process may do that once. Throws Error(device).
  KernelTable (*begin_kernels)(Device const&) = nullptr;
  // Ends that runtime, after all Execs were destroyed and before the Device is. Does nothing if it
  // did not begin.
  void (*end_kernels)() noexcept = nullptr;
  std::string_view target = {};    // is what the kernels are made for; empty: the device's own
  MakeWatch make_watch = nullptr;  // is null except in tests
};

// Returns how many devices this process sees. `backend` is null if there is none.
inline int count_devices(DeviceBackend const* backend) {
  return backend == nullptr ? 0 : backend->count();
}

// Says why a device that is seen cannot be used, or returns "" if it can.
inline std::string why_not(DeviceBackend const& backend, int number) {
  return backend.why_not == nullptr ? "" : backend.why_not(number);
}

// Returns whether this process sees a device that can be used. `backend` is null if there is none.
inline bool has_usable_device(DeviceBackend const* backend) {
  int number = count_devices(backend);
  while (number > 0 && !why_not(*backend, number - 1).empty()) --number;
  return number > 0;
}

}  // namespace spillway
