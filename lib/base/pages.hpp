// Memory of whole pages, which direct I/O takes, from the system and back to it.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <new>
#include <span>
#include <utility>

namespace spillway {

class Pages {
 public:
  Pages() = default;  // none
  // Zeroed; every page exists. Not from the C library's heap, which keeps what is as large as
  // something freed before. Throws std::bad_alloc.
  explicit Pages(std::size_t size_bytes) {
    if (size_bytes == 0) return;
    auto* const at = ::mmap(nullptr, size_bytes, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    if (at == MAP_FAILED) throw std::bad_alloc();
    m_bytes = {static_cast<std::byte*>(at), size_bytes};
  }
  Pages(Pages&& other) noexcept : m_bytes(std::exchange(other.m_bytes, {})) {}
  Pages& operator=(Pages&& other) noexcept {
    std::swap(m_bytes, other.m_bytes);
    return *this;
  }
  ~Pages() {
    if (!m_bytes.empty()) ::munmap(m_bytes.data(), m_bytes.size());
  }

  std::byte* data() const { return m_bytes.data(); }
  std::span<std::byte> all() const { return m_bytes; }

 private:
  std::span<std::byte> m_bytes;
};

}  // namespace spillway
