#include "tests/support/kernel_device.hpp"

#include <thread>

#include "base/math.hpp"

namespace spillway::test {
namespace {

KernelDevice const* g_device = nullptr;

}  // namespace

KernelDevice const* kernel_device() {
  return g_device;
}

void set_kernel_device(KernelDevice const* device) {
  g_device = device;
}

KernelDevice::KernelDevice(Device& device, KernelTable const& kernels)
    : m_device(device),
      m_kernels(kernels),
      m_name(device.properties().name),
      m_target(device.properties().target),
      m_stream(device.stream(false)),
      m_end(device.event()),
      m_exec(kernels.exec(m_stream->handle())) {}

void KernelDevice::run(std::function<void(Exec const&)> const& launch) const {
  launch(*m_exec);
  m_stream->record(*m_end);
  while (!m_end->done()) std::this_thread::yield();
  m_device.check();
}

DeviceCopies::DeviceCopies(KernelDevice const& device, std::vector<Bytes> const& contents,
                           std::int64_t scratch_bytes)
    : m_device(device) {
  for (auto const& bytes : contents) m_sizes.push_back(std::ssize(bytes));
  m_sizes.push_back(scratch_bytes);
  std::int64_t end = 0;
  for (auto const bytes : m_sizes) {
    m_offsets.push_back(end);
    end = round_up<std::int64_t>(end + bytes, 256);
  }
  m_memory = device.device().reserve("operands", end, end);
  for (std::size_t i = 0; i < contents.size(); ++i) {
    auto copy = contents[i];
    if (!copy.empty()) device.device().copy(bytes(i), HostBytes(copy.data(), std::ssize(copy)));
  }
}

DeviceBytes DeviceCopies::bytes(std::size_t i) const {
  return m_memory->at(m_offsets[i], m_sizes[i]);
}

void* DeviceCopies::at(std::size_t i, std::int64_t offset_bytes) const {
  return static_cast<std::byte*>(bytes(i).operand()) + offset_bytes;
}

std::vector<DeviceCopies::Bytes> DeviceCopies::read() const {
  std::vector<Bytes> contents;
  for (std::size_t i = 0; i + 1 < m_sizes.size(); ++i) {
    contents.emplace_back(static_cast<std::size_t>(m_sizes[i]));
    if (m_sizes[i] > 0)
      m_device.device().copy(HostBytes(contents.back().data(), m_sizes[i]), bytes(i));
  }
  return contents;
}

}  // namespace spillway::test
