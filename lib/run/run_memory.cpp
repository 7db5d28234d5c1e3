#include "run/run_memory.hpp"

#include <fmt/core.h>

#include <filesystem>

#include "base/address_sanitizer.hpp"
#include "base/error.hpp"
#include "base/log.hpp"
#include "io/ring/random_faults.hpp"
#include "io/ring/slow_storage.hpp"
#include "run/fault.hpp"

namespace spillway {
namespace {

// Returns what makes transfers fail as `debug.fault` asks, or null.
std::unique_ptr<FaultInjector> injector(Config const& config) {
  auto const [kind, number] = parse_fault(config.debug.fault);
  bool const once_read = kind == FaultKind::storage_read;
  bool const once_written = kind == FaultKind::storage_write;
  if (once_read || kind == FaultKind::storage_read_all)
    return std::make_unique<FaultOnNth>(Fault::error, number, 0, !once_read);
  if (once_written || kind == FaultKind::storage_write_all)
    return std::make_unique<FaultOnNth>(Fault::error, 0, number, !once_written);
  return nullptr;
}

MadeQueue make_queue(Config const& config, QueueSettings const& queue, int rank) {
  auto const fault = parse_fault(config.debug.fault);
  if (fault.kind == FaultKind::storage_slow)
    return {make_slow_queue(queue.depth, fault.number), ""};
  if (fault.kind != FaultKind::storage_random) return make_transfer_queue(queue);
  auto const seed =
      static_cast<std::uint64_t>(fault.number) << 16 | static_cast<std::uint64_t>(rank);
  return {make_random_queue(queue.depth, seed), ""};
}

}  // namespace

void require_spill_directory(MemoryConfig const& memory) {
  if (!memory.has_nvme_here()) return;
  auto const paths = memory.nvme_paths_here();
  try {
    for (std::filesystem::path const path : paths)
      if (path.is_relative()) make_directories(path);
  } catch (Error const& error) {
    throw Error(Status::bad_input, fmt::format("memory.nvme.path: {}", error.what()));
  }
  require_spill_place(paths);
}

QueueSettings queue_settings(Config const& config) {
  return {.backend = config.debug.force_backend,
          .depth = static_cast<int>(config.spill.queue_depth)};
}

RunMemory::RunMemory(Config const& config, Device& device, Program const& train,
                     Budgets const& most)
    : m_faults(injector(config)),
      m_backend(config.debug.force_backend),
      m_tiers(device, train.peak_bytes, nullptr, most) {}

Budgets RunMemory::room() const {
  return {m_tiers.device_memory->reserved_bytes(), m_tiers.host.reserved_bytes(),
          m_spill ? m_spill->size_bytes() : 0};
}

void RunMemory::resize(Program const& program) {
  if (m_spill) m_spill->register_memory({});  // the ring would keep pages that are freed
  // The last step of the old plan may have forbidden access to bytes that the new plan uses.
  allow_access(m_tiers.host.all());
  if (!m_tiers.device.has_own_memory()) allow_access(drive_memory(m_tiers));
  m_tiers.resize(program.peak_bytes);
  if (!register_drive_memory(program)) log_warning("{}", m_spill->advice().back());
}

// Returns false if memory cannot be registered. A Program that runs only once, to move to another
// plan, uses plain transfers, because registering would take longer than it gains.
bool RunMemory::register_drive_memory(Program const& program) {
  m_registered_bytes = 0;
  bool const wanted =
      m_backend == Backend::uring || (!m_backend && m_tiers.device.has_own_memory());
  if (!m_spill || !wanted || program.once) return true;
  auto const memory = drive_memory(m_tiers, program);
  if (!m_spill->register_memory(memory)) return false;
  for (auto const& part : memory) m_registered_bytes += std::ssize(part);
  return true;
}

std::optional<std::int64_t> RunMemory::device_outside_bytes() const {
  if (!m_tiers.device.has_own_memory()) return std::nullopt;
  auto const all = m_tiers.device.properties();
  return all.memory_bytes - all.free_bytes - m_tiers.device_memory->bytes();
}

std::optional<Pinning> RunMemory::pinning() const {
  if (!m_tiers.pinned_host) return std::nullopt;
  return Pinning{std::ssize(m_tiers.host.pages()), m_tiers.pinning_s};
}

std::int64_t RunMemory::held_bytes() const {
  auto const pinned = pinning();  // what is registered is a part of what is pinned
  return pinned ? pinned->bytes : m_registered_bytes;
}

void RunMemory::make_spill_file(Config const& config, Program const& train, int rank) {
  auto const spill_bytes = train.peak_bytes[Tier::nvme];
  if (spill_bytes == 0) return;
  auto const queue = queue_settings(config);
  m_spill.emplace(
      config.memory.nvme_paths_here(), spill_bytes,
      SpillSettings{.checksums = config.spill.checksum, .queue = queue, .faults = m_faults.get()},
      make_queue(config, queue, rank));
  m_tiers.spill = &*m_spill;
  if (!register_drive_memory(train) && m_backend == Backend::uring)
    throw Error(Status::bad_input, "debug.force_backend: uring: " + m_spill->advice().back());
}

}  // namespace spillway
