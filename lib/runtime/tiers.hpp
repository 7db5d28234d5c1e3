// Holds the memory of a run: one arena for each tier of main or device memory, and the spill file.
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

// Keeps the largest value that any thread has seen.
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

// The Engines of a run's Programs share it. Only one of them runs at a time. It outlives them.
struct Tiers {
  Arena device;
  Arena host;                  // 0 bytes if this tier is off
  SpillFile* spill = nullptr;  // null if no Program has nvme buffers
  // Each is the end of the highest byte that executed items used: the measured peak of the tier.
  std::array<HighWaterMark, kTiers> in_use;
};

// Returns the bytes of a buffer's version in main or device memory; `parity` picks one of two.
std::span<std::byte> buffer_bytes(Tiers const& tiers, Buffer const& buffer, int parity);

// Returns which bytes of its tensor a buffer holds on a rank; a part or a slice may depend on it.
ByteRange held_bytes(Program const& program, Buffer const& buffer, int rank);

// Returns the first buffer of a tensor outside nvme, or null if the Program has none.
Buffer const* find_buffer(Program const& program, TensorId tensor);

}  // namespace spillway
