// Memory of whole pages, which direct I/O takes, from the system and back to it.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <utility>

namespace spillway {

class Pages {
 public:
  Pages() = default;  // none
  // Zeroed; every page exists, and is huge where the system has such, as an arena's: drives and
  // caches are slower with small ones. Not from the C library's heap, which keeps what is as large
  // as something freed before. Throws Error(cannot_fit) that says `what` would have needed them.
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
  void* m_mapping = nullptr;  // has room before and behind them
  std::size_t m_mapped_bytes = 0;
};

}  // namespace spillway
