// Takes addresses and memory for devices from the operating system. The mutex of State must be
// held.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

namespace spillway::test::cuda {

// Reserves addresses that trap when they are touched, from a multiple of `alignment` on. Returns
// null if there are none.
std::byte* reserve_pages(std::int64_t bytes, std::int64_t alignment);
void release_pages(void* first, std::int64_t bytes);
// Makes reserved addresses to which memory was mapped trap again.
void unmap_pages(void* first, std::int64_t bytes);

// DevicePages are memory of a device, and a ptx::ByteState for each of its bytes. New memory holds
// NaN in every type, not zeros, so that code which needs zeros must write them; none of its bytes
// is known. It is given back when the DevicePages end, and whoever maps it must keep them until
// then.
class DevicePages {
 public:
  static std::shared_ptr<DevicePages> make(int device, std::int64_t bytes);  // null: there is none
  DevicePages(DevicePages const&) = delete;
  DevicePages& operator=(DevicePages const&) = delete;
  ~DevicePages();

  int device() const { return m_device; }
  std::int64_t bytes() const { return m_bytes; }
  // Maps the first `bytes` bytes and their states to these reserved addresses.
  void map(std::int64_t bytes, std::byte* memory, std::uint8_t* states) const;

 private:
  DevicePages(int device, std::int64_t offset, std::int64_t bytes)
      : m_device(device), m_offset(offset), m_bytes(bytes) {}

  int m_device;
  std::int64_t m_offset, m_bytes;
};

}  // namespace spillway::test::cuda
