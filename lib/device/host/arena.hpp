// The bytes of one memory tier: address space reserved once, of which a planned part is usable.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "device/bytes.hpp"

namespace spillway {

// Aligned to 2 MiB, so that huge pages fit and O_DIRECT transfers go straight from it. Bytes beyond
// the committed ones trap when touched; committed ones read as zero at first.
class Arena {
 public:
  static constexpr std::int64_t kAlignment = std::int64_t{2} << 20;

  // Commits `bytes`, and keeps the addresses up to `reserve_bytes`, if the system lets us, for
  // later `commit`s. `name` is for messages. Throws Error(cannot_fit) when the system refuses.
  explicit Arena(std::string name, std::int64_t bytes, std::int64_t reserve_bytes = 0);
  ~Arena();
  Arena(Arena const&) = delete;
  Arena& operator=(Arena const&) = delete;

  // Makes [0, bytes) usable; pages beyond go back to the system. Bytes that were not usable before
  // are zero. Addresses do not change. Throws Error(cannot_fit). Not while anything runs.
  void commit(std::int64_t bytes);

  // Asks the system to take pages that are touched from now on from the memory of this NUMA node as
  // long as it has some. A refusal only costs speed.
  void prefer_numa_node(int node);

  // Returns bytes [offset, offset + bytes), which must be committed (assert).
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
