// A StorageBench moves streams of transfers through a spill file of its own, as training does.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>

#include "base/pages.hpp"
#include "io/spill/spill_file.hpp"

namespace spillway {

// Reads go through the lower half of what the constructor has written, and writes go through the
// upper half. Fresh blocks of a file take longer, but a run writes the same blocks again and again.
class StorageBench {
 public:
  // How many transfers are under way at a time in each direction.
  static constexpr std::int64_t kUnderWay = 8;
  static constexpr std::int64_t kLeastBytes = 2 * kUnderWay * kSpillAlignment;

  // Returns the memory that a StorageBench of `size_bytes` needs, which must be at least
  // kLeastBytes. Throws Error(cannot_fit).
  static Pages memory_for(std::int64_t size_bytes);

  // Makes a spill file of `size_bytes` and writes as much of it as half a second allows. Throws
  // Error: cannot_fit if there is not so much space, bad_input if a directory cannot be used.
  StorageBench(Pages memory, Directories const& directories, std::int64_t size_bytes,
               bool checksums);

  struct Moved {
    double gb = 0, s = 0;
    double gbps() const { return s > 0 ? gb / s : 0; }
  };
  // Begins a transfer as soon as another one of its direction ends, until `least_s` seconds are
  // over. Returns what was moved, or nothing once storage has failed.
  Moved stream(std::span<Direction const> directions, double least_s) noexcept;

  double core_s_per_gb() const;  // what stream() has cost its threads so far

 private:
  std::int64_t write_first(std::int64_t transfers) noexcept;
  std::span<std::byte> memory(std::int64_t transfer) const;
  void begin(Direction direction, std::int64_t transfer) noexcept;
  std::optional<std::int64_t> end_one() noexcept;

  std::int64_t m_transfer_bytes, m_half_transfers = 0;
  Pages m_memory;  // memory of the transfers under way
  SpillFile m_file;
  std::array<std::int64_t, 2> m_begun{};  // how many transfers have begun, by direction
  double m_moved_gb = 0, m_cpu_s = 0;
  bool m_sound = true;
};

}  // namespace spillway
