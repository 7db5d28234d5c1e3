#include "base/pages.hpp"

#include <sys/mman.h>

#include <cerrno>
#include <cstdint>

#include "base/cannot_give.hpp"

namespace spillway {
namespace {

constexpr std::size_t kPage = 4096, kHuge = std::size_t{2} << 20;

}  // namespace

Pages::Pages(std::size_t size_bytes, std::string_view what) {
  if (size_bytes == 0) return;
  m_mapped_bytes = size_bytes < kHuge ? size_bytes : size_bytes + kHuge;
  m_mapping =
      ::mmap(nullptr, m_mapped_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (m_mapping == MAP_FAILED)
    throw cannot_give(what, static_cast<std::int64_t>(size_bytes), errno);
  auto* first = static_cast<std::byte*>(m_mapping);
  if (size_bytes >= kHuge) first += -reinterpret_cast<std::uintptr_t>(first) % kHuge;
  m_bytes = {first, size_bytes};
  ::madvise(first, size_bytes, MADV_HUGEPAGE);  // if the system refuses, only speed is lost
  for (std::size_t at = 0; at < size_bytes; at += kPage) first[at] = std::byte{0};
}

Pages::~Pages() {
  if (!m_bytes.empty()) ::munmap(m_mapping, m_mapped_bytes);
}

}  // namespace spillway
