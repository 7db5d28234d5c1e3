// A Pages owns whole pages of memory, which direct I/O needs, and gives them back to the system
// when it is destroyed.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <utility>

namespace spillway {

class Pages {
 public:
  Pages() = default;  // makes an object without pages
  // Takes `size_bytes` bytes from the system and writes zeros to all of them, so that the pages
  // exist. Asks for huge pages, because drives and processors are slower with small ones. The heap
  // of the C library is not used, because it may keep large allocations that were freed. Throws
  // Error(cannot_fit), whose message begins with `what`.
  explicit Pages(std::size_t size_bytes, std::string_view what = "memory");
  Pages(Pages&& other) noexcept { *this = std::move(other); }
  Pages& operator=(Pages&& other) noexcept {
    std::swap(m_bytes, other.m_bytes);
    std::swap(m_mapping, other.m_mapping);
    std::swap(m_mapped_bytes, other.m_mapped_bytes);
    return *this;
  }
  ~Pages();

  std::byte* data() const { return m_bytes.data(); }
  std::span<std::byte> all() const { return m_bytes; }

 private:
  std::span<std::byte> m_bytes;
  void* m_mapping = nullptr;  // the start of the mapping, at or before m_bytes
  std::size_t m_mapped_bytes = 0;
};

}  // namespace spillway
