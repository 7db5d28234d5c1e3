// An Arena holds the bytes of a memory tier in main memory: addresses that are reserved once, of
// which the first ones are usable.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "device/bytes.hpp"

namespace spillway {

// An Arena is aligned to 2 MiB, so that huge pages fit and direct I/O can use its memory. An access
// to pages beyond the committed bytes is a memory fault. Bytes are zero when they are committed.
class Arena {
 public:
  static constexpr std::int64_t kAlignment = std::int64_t{2} << 20;

  // Commits `bytes` bytes. Reserves addresses for `reserve_bytes` bytes, which later calls of
  // commit() may use, or only for `bytes` if the system refuses so many. Messages contain `name`.
  // Throws Error(cannot_fit) if the system refuses `bytes`, too.
  explicit Arena(std::string name, std::int64_t bytes, std::int64_t reserve_bytes = 0);
  ~Arena();
  Arena(Arena const&) = delete;
  Arena& operator=(Arena const&) = delete;

  // Makes the first `bytes` bytes usable and gives pages beyond them back to the system. Bytes that
  // become usable are zero. Addresses do not change. Nothing may use the Arena during the call.
  // Throws Error(cannot_fit) if the system refuses.
  void commit(std::int64_t bytes);

  // Asks the system to take pages that are first touched after this call from the NUMA node `node`
  // while the node has free memory. If the system refuses, only speed is lost.
  void prefer_numa_node(int node);

  // Returns bytes [offset, offset + bytes). Throws std::logic_error unless all of them are
  // committed.
  HostBytes at(std::int64_t offset, std::int64_t bytes) const;
  HostBytes all() const { return at(0, m_bytes); }
  HostBytes pages() const;  // the committed bytes, rounded up to whole pages of the system
  static std::int64_t whole_pages(std::int64_t bytes);  // rounds up alike

  std::int64_t bytes() const { return m_bytes; }
  std::int64_t reserved_bytes() const { return m_reserved_bytes; }

 private:
  std::string m_name;
  std::int64_t m_reserved_bytes = 0, m_bytes = 0;
  void* m_mapping = nullptr;
  std::byte* m_base = nullptr;
};

}  // namespace spillway
