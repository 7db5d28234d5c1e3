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

class KernelDevice {
 public:
  KernelDevice(Device& device, KernelTable const& kernels);

  Device& device() const { return m_device; }
  KernelTable const& kernels() const { return m_kernels; }
  std::string const& name() const { return m_name; }
  std::string const& target() const { return m_target; }  // decides the sizes of workspaces

  // Calls launch(exec), with an Exec on a stream, and returns when the work has ended. Throws
  // Error(device) if the device has failed.
  void run(std::function<void(Exec const&)> const& launch) const;

 private:
  Device& m_device;
  KernelTable m_kernels;
  std::string m_name, m_target;
  std::unique_ptr<Stream> m_stream;
  std::unique_ptr<Event> m_end;
  std::unique_ptr<Exec const> m_exec;
};

KernelDevice const* kernel_device();  // null: kernels run on the host
void set_kernel_device(KernelDevice const* device);

// A DeviceCopies has copies of some bytes in a device's memory, each at a multiple of 256 bytes.
// Behind them lie `scratch_bytes` bytes that nobody has written.
class DeviceCopies {
 public:
  using Bytes = std::vector<std::byte>;

  DeviceCopies(KernelDevice const& device, std::vector<Bytes> const& contents,
               std::int64_t scratch_bytes);

  // Returns where the copy of contents[i] is or, for i = contents.size(), the scratch.
  void* at(std::size_t i, std::int64_t offset_bytes) const;
  std::vector<Bytes> read() const;

 private:
  DeviceBytes bytes(std::size_t i) const;

  KernelDevice const& m_device;
  std::vector<std::int64_t> m_offsets, m_sizes;
  std::unique_ptr<DeviceMemory> m_memory;
};

}  // namespace spillway::test
