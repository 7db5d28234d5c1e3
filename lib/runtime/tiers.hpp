// The memory of a run is one arena per tier of main or device memory, and the spill file.
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

// It keeps the largest value that any thread has seen.
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

// The Engines of all Programs of a run share it, of which one runs at a time. It outlives them.
struct Tiers {
  Arena device;
  Arena host;                  // of 0 bytes where the tier is off
  SpillFile* spill = nullptr;  // null where no Program has nvme buffers
  // Here ends the highest byte that executed items used: these are the measured peaks.
  std::array<HighWaterMark, kTiers> in_use;
};

// Returns the bytes of a buffer's version in main or device memory; `parity` picks one of two.
std::span<std::byte> buffer_bytes(Tiers const& tiers, Buffer const& buffer, int parity);

// Returns the bytes of its tensor that a buffer holds on a rank, with part and slice resolved.
ByteRange held_bytes(Program const& program, Buffer const& buffer, int rank);

// Returns the first buffer of a tensor outside nvme, or null when the Program has none.
Buffer const* find_buffer(Program const& program, TensorId tensor);

}  // namespace spillway
