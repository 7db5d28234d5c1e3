// An Arena holds the bytes of one memory tier: addresses that are reserved once, of which the first
// ones are usable.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "device/bytes.hpp"

namespace spillway {

// An Arena is aligned to 2 MiB, so that huge pages fit and direct I/O can use its memory. An access
// to pages beyond the committed bytes is a memory fault. Committed bytes are zero at first.
class Arena {
 public:
  static constexpr std::int64_t kAlignment = std::int64_t{2} << 20;

  // Commits `bytes` and reserves addresses up to `reserve_bytes`, if the system allows it, for
  // later calls of `commit`. Messages contain `name`. Throws Error(cannot_fit) if the system
  // refuses.
  explicit Arena(std::string name, std::int64_t bytes, std::int64_t reserve_bytes = 0);
  ~Arena();
  Arena(Arena const&) = delete;
  Arena& operator=(Arena const&) = delete;

  // Makes bytes [0, bytes) usable and gives pages beyond them back to the system. Bytes that were
  // not usable before are zero. Addresses do not change. Must not be called while anything runs.
  // Throws Error(cannot_fit).
  void commit(std::int64_t bytes);

  // Asks the system to take pages that are touched from now on from this NUMA node while it has
  // free memory. If the system refuses, only speed is lost.
  void prefer_numa_node(int node);

  // Returns bytes [offset, offset + bytes), which must be committed; if they are not, an assertion
  // fails.
  HostBytes at(std::int64_t offset, std::int64_t bytes) const;
  HostBytes all() const { return at(0, m_bytes); }
  HostBytes pages() const;  // the whole pages that hold all()

  std::int64_t bytes() const { return m_bytes; }
  std::int64_t reserved_bytes() const { return m_reserved_bytes; }

 private:
  std::string m_name;
  std::int64_t m_reserved_bytes = 0, m_bytes = 0;
  void* m_mapping = nullptr;
  std::byte* m_base = nullptr;
};

}  // namespace spillway
