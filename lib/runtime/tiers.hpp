// Holds the memory of a run: a device's memory, an arena of main memory, and the spill file.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "device/device.hpp"
#include "device/host/arena.hpp"
#include "plan/data/budgets.hpp"
#include "plan/data/program.hpp"
#include "plan/proof/unroll.hpp"

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
  // Takes the peaks of the tiers; `most` is what they may grow to later. The device and the spill
  // file must outlive this. Throws Error(cannot_fit).
  Tiers(Device& device, TierBytes const& peak_bytes, SpillFile* spill, Budgets const& most = {});
  // Makes both memories as large as a Program needs; bytes beyond the new ends are lost. Must not
  // be called while anything runs. Throws Error(cannot_fit).
  void resize(TierBytes const& peak_bytes);

  Device& device;
  std::unique_ptr<DeviceMemory> device_memory;
  Arena host;                           // 0 bytes if this tier is off
  std::unique_ptr<Pinned> pinned_host;  // all of `host`, if the device needs that
  double pinning_s = 0;                 // how long it took to pin `host` last
  SpillFile* spill;                     // null if no Program has nvme buffers
  // Each is the end of the highest byte that executed items used: the measured peak of the tier.
  std::array<HighWaterMark, kTiers> in_use;

 private:
  void pin();
};

// These return the bytes of a buffer's version outside nvme; `parity` picks one of two.
// `memory_bytes` returns DeviceBytes only if they lie in a device's own memory. `host_bytes` then
// throws std::logic_error with the buffer's name.
MemoryBytes memory_bytes(Tiers const& tiers, Buffer const& buffer, int parity);
HostBytes host_bytes(Tiers const& tiers, Buffer const& buffer, int parity);

// Returns the memory that most transfers of the drive use: the device tier or, if the device has
// memory of its own, the host tier.
HostBytes drive_memory(Tiers const& tiers);
// Returns the parts of it that the Program's transfers use, in rising order.
std::vector<HostBytes> drive_memory(Tiers const& tiers, Program const& program);

// Returns the bytes [first, last) of `bytes`.
MemoryBytes part(MemoryBytes const& bytes, std::int64_t first, std::int64_t last);
// Returns bytes as kernels of the device reach them.
DeviceBytes on_device(Device const& device, MemoryBytes const& bytes);
// Copies as many bytes as `from` has: in `stream`, or else before it returns.
void copy(Device& device, Stream* stream, MemoryBytes const& to, MemoryBytes const& from);

// Returns which bytes of its tensor a buffer holds on a rank; a part or a slice may depend on it.
ByteRange held_bytes(Program const& program, Buffer const& buffer, int rank);

// Returns the first buffer of a tensor outside nvme, or null if the Program has none.
Buffer const* find_buffer(Program const& program, TensorId tensor);

}  // namespace spillway
