// Tiers hold the memory of a run: a device's memory, an arena of main memory, and the spill file.
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

// A HighWaterMark keeps the largest value that any thread has passed to `raise`.
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

// The Engines of all Programs of a run share one Tiers, which must outlive them. Only one Engine
// runs at a time.
struct Tiers {
  // Makes the device tier and the host tier as large as `peak_bytes` says. `most` says how large
  // they may grow later. The device and the spill file must outlive this object. Throws
  // Error(cannot_fit).
  Tiers(Device& device, TierBytes const& peak_bytes, SpillFile* spill, Budgets const& most = {});
  // Makes both memories as large as a Program needs; bytes beyond the new ends are lost. Must not
  // be called while anything runs. Throws Error(cannot_fit).
  void resize(TierBytes const& peak_bytes);

  Device& device;
  std::unique_ptr<DeviceMemory> device_memory;
  Arena host;                           // has 0 bytes if there is no host tier
  std::unique_ptr<Pinned> pinned_host;  // pins all of `host`; null if the device needs no pinning
  double pinning_s = 0;                 // how long the last pinning of `host` took
  SpillFile* spill;                     // null if no Program has nvme buffers
  // Each of these is the end of the highest byte that items have used: the measured peak of a tier.
  std::array<HighWaterMark, kTiers> in_use;

 private:
  void pin();
};

// These functions return the bytes of a buffer that does not lie on NVMe. `parity` chooses one of
// two versions. `memory_bytes` returns DeviceBytes only if they lie in a device's own memory. In
// that case, `host_bytes` throws std::logic_error with the buffer's name.
MemoryBytes memory_bytes(Tiers const& tiers, Buffer const& buffer, int parity);
HostBytes host_bytes(Tiers const& tiers, Buffer const& buffer, int parity);

// Returns all memory of the tier to which the drive has direct access: the device tier or, if the
// device has memory of its own, the host tier.
HostBytes drive_memory(Tiers const& tiers);
// Returns the parts of drive_memory(tiers) that the Program's transfers use, in rising order of
// their addresses.
std::vector<HostBytes> drive_memory(Tiers const& tiers, Program const& program);

// Returns the bytes [first, last) of `bytes`.
MemoryBytes part(MemoryBytes const& bytes, std::int64_t first, std::int64_t last);
// Returns the addresses by which kernels of the device reach `bytes`.
DeviceBytes on_device(Device const& device, MemoryBytes const& bytes);
// Copies all bytes of `from` to `to`. The copy goes into `stream`; if that is null, the copy has
// ended when the function returns.
void copy(Device& device, Stream* stream, MemoryBytes const& to, MemoryBytes const& from);

// Returns the first buffer of a tensor outside nvme, or null if the Program has none.
Buffer const* find_buffer(Program const& program, TensorId tensor);

}  // namespace spillway
