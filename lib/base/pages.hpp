// Memory of whole pages, which direct I/O takes, from the system and back to it.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <new>
#include <span>
#include <utility>

namespace spillway {

class Pages {
 public:
  Pages() = default;  // none
  // Zeroed; every page exists, and is huge where the system has such, as an arena's: drives and
  // caches are slower with small ones. Not from the C library's heap, which keeps what is as large
  // as something freed before. Throws std::bad_alloc.
  explicit Pages(std::size_t size_bytes) {
    if (size_bytes == 0) return;
    m_mapped_bytes = size_bytes < kHuge ? size_bytes : size_bytes + kHuge;
    m_mapping =
        ::mmap(nullptr, m_mapped_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (m_mapping == MAP_FAILED) throw std::bad_alloc();
    auto* first = static_cast<std::byte*>(m_mapping);
    if (size_bytes >= kHuge) first += -reinterpret_cast<std::uintptr_t>(first) % kHuge;
    m_bytes = {first, size_bytes};
    ::madvise(first, size_bytes, MADV_HUGEPAGE);  // a refusal only costs speed
    for (std::size_t at = 0; at < size_bytes; at += kPage) first[at] = std::byte{0};
  }
  Pages(Pages&& other) noexcept { *this = std::move(other); }
  Pages& operator=(Pages&& other) noexcept {
    std::swap(m_bytes, other.m_bytes);
    std::swap(m_mapping, other.m_mapping);
    std::swap(m_mapped_bytes, other.m_mapped_bytes);
    return *this;
  }
  ~Pages() {
    if (!m_bytes.empty()) ::munmap(m_mapping, m_mapped_bytes);
  }

  std::byte* data() const { return m_bytes.data(); }
  std::span<std::byte> all() const { return m_bytes; }

 private:
  static constexpr std::size_t kPage = 4096, kHuge = std::size_t{2} << 20;
  std::span<std::byte> m_bytes;
  void* m_mapping = nullptr;  // has room before and behind them
  std::size_t m_mapped_bytes = 0;
};

}  // namespace spillway
