// Copies bytes to memory that kernels on the host reach. DeviceCopies (kernel_device.hpp) do so for
// a device.
#pragma once

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace spillway::test {

// HostCopies have copies of some bytes, each in an allocation of its own.
class HostCopies {
 public:
  explicit HostCopies(std::vector<std::vector<std::byte>> const& contents) {
    for (auto const& bytes : contents) {
      m_buffers.emplace_back(Kokkos::view_alloc("operand", Kokkos::WithoutInitializing),
                             bytes.size());
      std::ranges::copy(bytes, m_buffers.back().data());
    }
  }

  void* at(std::size_t i, std::int64_t offset_bytes) const {
    return m_buffers[i].data() + offset_bytes;
  }
  std::vector<std::vector<std::byte>> read() const {
    std::vector<std::vector<std::byte>> contents;
    for (auto const& buffer : m_buffers)
      contents.emplace_back(buffer.data(), buffer.data() + buffer.size());
    return contents;
  }

 private:
  std::vector<Kokkos::View<std::byte*, Kokkos::SharedSpace>> m_buffers;
};

}  // namespace spillway::test
