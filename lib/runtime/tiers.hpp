// The memory of a run: one arena per tier of main or device memory, and the spill file.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <span>

#include "plan/data/program.hpp"
#include "plan/proof/unroll.hpp"
#include "runtime/arena.hpp"

namespace spillway {

class SpillFile;

// The largest value seen, by any thread.
class HighWaterMark {
 public:
  void raise(std::int64_t value) {
    auto seen = m_value.load(std::memory_order_relaxed);
    while (seen < value && !m_value.compare_exchange_weak(seen, value, std::memory_order_relaxed)) {
    }
  }
  std::int64_t value() const { return m_value.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::int64_t> m_value = 0;
};

// Shared by the Engines of all Programs of a run, of which one runs at a time; outlives them.
struct Tiers {
  Arena device;
  Arena host;                  // of 0 bytes where the tier is off
  SpillFile* spill = nullptr;  // null where no Program has nvme buffers
  // End of the highest byte that executed items used: the measured peaks.
  std::array<HighWaterMark, kTiers> in_use;
};

// Bytes of a buffer's version (`parity` picks one of two) in main or device memory.
std::span<std::byte> buffer_bytes(Tiers const& tiers, Buffer const& buffer, int parity);

// The bytes of its tensor that a buffer holds on a rank, part and slice resolved.
ByteRange held_bytes(Program const& program, Buffer const& buffer, int rank);

// The first buffer of a tensor outside nvme; null when the Program has none.
Buffer const* find_buffer(Program const& program, TensorId tensor);

}  // namespace spillway
