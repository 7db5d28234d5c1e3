// Lets tests of kernels run on a device. A program that is linked for that sets the KernelDevice
// before its first test; in all others kernels run on the host.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "device/device.hpp"
#include "kernels/kernel_table.hpp"

namespace spillway::test {

struct KernelDevice {
  Device& device;
  KernelTable kernels;
  std::string target;  // decides the sizes of workspaces
};

KernelDevice const* kernel_device();  // null: kernels run on the host
void set_kernel_device(KernelDevice const* device);

// Copies of some bytes in a device's memory, each at a multiple of 256 bytes.
class DeviceCopies {
 public:
  using Bytes = std::vector<std::byte>;

  DeviceCopies(KernelDevice const& device, std::vector<Bytes> const& contents);

  void* at(std::size_t i, std::int64_t offset_bytes) const;
  // Calls launch(exec), with an Exec on a stream, and returns when the work has ended.
  void run(std::function<void(Exec const&)> const& launch) const;
  std::vector<Bytes> read() const;

 private:
  DeviceBytes bytes(std::size_t i) const;

  KernelDevice const& m_device;
  std::vector<std::int64_t> m_offsets, m_sizes;
  std::unique_ptr<DeviceMemory> m_memory;
};

}  // namespace spillway::test
