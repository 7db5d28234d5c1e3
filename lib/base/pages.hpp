// A Pages owns whole pages of memory, as direct I/O needs them, and returns them to the system.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <utility>

namespace spillway {

class Pages {
 public:
  Pages() = default;  // an object that owns no pages
  // Allocates zeroed pages that all exist already. They are huge pages if the system has such,
  // because drives and caches are slower with small ones. They are not from the heap of the C
  // library, which may keep large blocks after they are freed. Throws Error(cannot_fit), whose
  // message begins with `what`.
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
