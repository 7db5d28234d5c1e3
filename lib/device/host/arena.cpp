#include "device/host/arena.hpp"

#include <linux/mempolicy.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/address_sanitizer.hpp"
#include "base/allocator_pass.hpp"
#include "base/cannot_give.hpp"
#include "base/check.hpp"
#include "base/math.hpp"

namespace spillway {
namespace {

std::size_t mapping_bytes(std::int64_t reserved_bytes) {
  return static_cast<std::size_t>(reserved_bytes + Arena::kAlignment);
}

void* reserve(std::int64_t bytes) {
  return ::mmap(nullptr, mapping_bytes(bytes), PROT_NONE,
                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
}

}  // namespace

Arena::Arena(std::string name, std::int64_t bytes, std::int64_t reserve_bytes)
    : m_name(std::move(name)),
      m_reserved_bytes(round_up(std::max(bytes, reserve_bytes), kAlignment)) {
  refuse_when_locked("an arena");
  m_mapping = reserve(m_reserved_bytes);
  if (m_mapping == MAP_FAILED && bytes < reserve_bytes) {  // `ulimit -v` may limit addresses
    m_reserved_bytes = round_up(bytes, kAlignment);
    m_mapping = reserve(m_reserved_bytes);
  }
  if (m_mapping == MAP_FAILED) throw cannot_give(m_name, m_reserved_bytes, errno);
  auto const address = reinterpret_cast<std::uintptr_t>(m_mapping);
  auto const alignment = static_cast<std::uintptr_t>(kAlignment);
  m_base = reinterpret_cast<std::byte*>(round_up(address, alignment));
  // If the system refuses huge pages, only speed is lost.
  ::madvise(m_base, static_cast<std::size_t>(m_reserved_bytes), MADV_HUGEPAGE);
  try {
    commit(bytes);
  } catch (Error const&) {
    ::munmap(m_mapping, mapping_bytes(m_reserved_bytes));
    throw;
  }
}

Arena::~Arena() {
  allow_access({m_base, static_cast<std::size_t>(m_bytes)});  // a later mapping may lie here
  ::munmap(m_mapping, mapping_bytes(m_reserved_bytes));
}

// Protection changes by whole pages, which have 64 KiB on some ARM systems.
std::int64_t Arena::whole_pages(std::int64_t bytes) {
  static auto const page_bytes = std::int64_t{::sysconf(_SC_PAGESIZE)};
  return round_up(bytes, page_bytes);
}

void Arena::commit(std::int64_t bytes) {
  refuse_when_locked("arena bytes");
  check(bytes >= 0 && bytes <= m_reserved_bytes, m_name, "grows beyond its addresses");
  auto const before = whole_pages(m_bytes), now = whole_pages(bytes);
  if (now > 0 && ::mprotect(m_base, static_cast<std::size_t>(now), PROT_READ | PROT_WRITE) != 0) {
    throw cannot_give(m_name, bytes, errno);
  }
  // In the last page that was committed, bytes beyond m_bytes have kept their values. They are set
  // to zero now.
  if (bytes > m_bytes)
    std::memset(m_base + m_bytes, 0, static_cast<std::size_t>(std::min(bytes, before) - m_bytes));
  if (now < before) {
    auto const rest = static_cast<std::size_t>(before - now);
    ::madvise(m_base + now, rest, MADV_DONTNEED);
    ::mprotect(m_base + now, rest, PROT_NONE);
  }
  m_bytes = bytes;
}

void Arena::prefer_numa_node(int node) {
  constexpr int bits = 64;
  if (node < 0 || node >= bits) return;
  unsigned long const mask = 1ul << static_cast<unsigned>(node);
  // glibc has no function for mbind. The kernel uses one bit of the mask less than the number of
  // bits that it is given.
  ::syscall(SYS_mbind, m_base, static_cast<unsigned long>(m_reserved_bytes), MPOL_PREFERRED, &mask,
            bits + 1ul, 0u);
}

HostBytes Arena::pages() const {
  return {m_base, static_cast<std::size_t>(whole_pages(m_bytes))};
}

HostBytes Arena::at(std::int64_t offset, std::int64_t bytes) const {
  check(offset >= 0 && bytes >= 0 && offset + bytes <= m_bytes, m_name,
        "bytes beyond its end are asked for");
  return {m_base + offset, static_cast<std::size_t>(bytes)};
}

}  // namespace spillway
