#include "train/run_memory.hpp"

#include "base/address_sanitizer.hpp"
#include "io/ring/random_faults.hpp"
#include "io/ring/slow_storage.hpp"
#include "train/fault.hpp"

namespace spillway {
namespace {

// As `debug.fault` asks.
std::unique_ptr<FaultInjector> injector(Config const& config) {
  auto const [kind, at] = parse_fault(config.debug.fault);
  bool const once_read = kind == FaultKind::storage_read;
  bool const once_written = kind == FaultKind::storage_write;
  if (once_read || kind == FaultKind::storage_read_all)
    return std::make_unique<FaultOnNth>(Fault::error, at, 0, !once_read);
  if (once_written || kind == FaultKind::storage_write_all)
    return std::make_unique<FaultOnNth>(Fault::error, 0, at, !once_written);
  return nullptr;
}

// Registering makes all of it resident at once, so only where it is asked for.
bool registers(Config const& config) {
  return backend(config.debug.force_backend) == Backend::uring;
}

MadeQueue make_queue(Config const& config, QueueSettings const& queue, int rank) {
  auto const fault = parse_fault(config.debug.fault);
  if (fault.kind == FaultKind::storage_slow) return {make_slow_queue(queue.depth, fault.at), ""};
  if (fault.kind != FaultKind::storage_random) return make_transfer_queue(queue);
  auto const seed = static_cast<std::uint64_t>(fault.at) << 16 | static_cast<std::uint64_t>(rank);
  return {make_random_queue(queue.depth, seed), ""};
}

}  // namespace

void require_spill_directory(MemoryConfig const& memory) {
  auto const path = memory.nvme_path_here();
  if (!path.empty()) require_spill_place(path);
}

QueueSettings queue_settings(Config const& config, std::span<std::byte> device) {
  return {.backend = backend(config.debug.force_backend),
          .depth = static_cast<int>(config.spill.queue_depth),
          .buffer = registers(config) ? device : std::span<std::byte>{}};
}

RunMemory::RunMemory(Config const& config, Device& device, Program const& train,
                     Budgets const& most)
    : m_faults(injector(config)),
      m_registered(registers(config)),
      m_tiers(device, train.peak_bytes, nullptr, most) {}

Budgets RunMemory::room() const {
  auto const& device = *m_tiers.device_memory;
  return {m_registered ? device.bytes() : device.reserved_bytes(), m_tiers.host.reserved_bytes(),
          m_spill ? m_spill->size_bytes() : 0};
}

void RunMemory::resize(TierBytes const& peak_bytes) {
  // The old plan's last step may have left bytes forbidden that the new plan uses.
  allow_access(m_tiers.host.all());
  if (!m_tiers.device.has_own_memory()) allow_access(drive_memory(m_tiers));
  auto bytes = peak_bytes;
  if (m_registered) bytes[Tier::device] = m_tiers.device_memory->bytes();
  m_tiers.resize(bytes);
}

std::optional<std::int64_t> RunMemory::device_outside_bytes() const {
  if (!m_tiers.device.has_own_memory()) return std::nullopt;
  auto const all = m_tiers.device.properties();
  return all.memory_bytes - all.free_bytes - m_tiers.device_memory->bytes();
}

void RunMemory::take_storage(Config const& config, Program const& train, int rank) {
  auto const spill_bytes = train.peak_bytes[Tier::nvme];
  if (spill_bytes == 0) return;
  auto const queue = queue_settings(config, drive_memory(m_tiers));
  m_spill.emplace(
      config.memory.nvme_path_here(), spill_bytes,
      SpillSettings{.checksums = config.spill.checksum, .queue = queue, .faults = m_faults.get()},
      make_queue(config, queue, rank));
  m_tiers.spill = &*m_spill;
}

}  // namespace spillway
