#include "train/run_memory.hpp"

#include "train/fault.hpp"

namespace spillway {
namespace {

std::int64_t peak(Program const& program, Tier tier) {
  return program.peak_bytes[static_cast<std::size_t>(tier)];
}

// `debug.fault` = storage-read:N or storage-write:N makes the N-th transfer fail.
std::unique_ptr<FaultInjector> injector(Config const& config) {
  auto const fault = parse_fault(config.debug.fault);
  if (fault.kind == FaultKind::storage_read) {
    return std::make_unique<FaultOnNth>(Fault::error, fault.at, 0);
  }
  if (fault.kind == FaultKind::storage_write) {
    return std::make_unique<FaultOnNth>(Fault::error, 0, fault.at);
  }
  return nullptr;
}

}  // namespace

void require_spill_directory(MemoryConfig const& memory) {
  if (!memory.nvme_path.empty()) require_spill_place(memory.nvme_path);
}

RunMemory::RunMemory(Config const& config, Program const& train)
    : m_faults(injector(config)),
      m_tiers{Arena("memory.device", peak(train, Tier::device)),
              Arena("host memory", peak(train, Tier::host)),
              nullptr,
              {}} {
  auto const spill_bytes = peak(train, Tier::nvme);
  if (spill_bytes == 0) return;
  auto const& device = m_tiers.device;
  QueueSettings queue;
  queue.backend = backend(config.debug.force_backend);
  queue.depth = static_cast<int>(config.spill.queue_depth);
  // Registering makes all of it resident at once, so only where it is asked for.
  if (queue.backend == Backend::uring)
    queue.buffer = {device.at(0, device.bytes()), static_cast<std::size_t>(device.bytes())};
  m_spill.emplace(
      config.memory.nvme_path, spill_bytes,
      SpillSettings{.checksums = config.spill.checksum, .queue = queue, .faults = m_faults.get()});
  m_tiers.spill = &*m_spill;
}

}  // namespace spillway
