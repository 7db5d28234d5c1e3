#include "runtime/tiers.hpp"

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <type_traits>

#include "base/check.hpp"
#include "base/steady_clock.hpp"
#include "plan/memory/drive_ranges.hpp"
#include "plan/memory/lifetime.hpp"

namespace spillway {

Tiers::Tiers(Device& on, TierBytes const& peak_bytes, SpillFile* file, Budgets const& most)
    : device(on),
      device_memory(on.reserve("memory.device", peak_bytes[Tier::device], most.device_bytes)),
      host("host memory", peak_bytes[Tier::host], most.host_bytes),
      spill(file) {
  host.prefer_numa_node(device.properties().numa_node);
  pin();
}

void Tiers::resize(TierBytes const& peak_bytes) {
  device_memory->commit(peak_bytes[Tier::device]);
  bool const same_pages = Arena::whole_pages(peak_bytes[Tier::host]) == std::ssize(host.pages());
  if (!same_pages) pinned_host.reset();
  host.commit(peak_bytes[Tier::host]);
  if (!same_pages) pin();  // pinning is slow, so the same pages stay pinned
}

void Tiers::pin() {
  if (host.bytes() == 0) return;
  auto const begin = SteadyClock::now();
  pinned_host = device.pin(host.pages());
  pinning_s = seconds_since(begin);
}

MemoryBytes memory_bytes(Tiers const& tiers, Buffer const& buffer, int parity) {
  check(buffer.tier != Tier::nvme && buffer.offset >= 0, buffer.name, "has no place in memory");
  auto const offset = buffer.offset + (buffer.versions > 1 ? parity * buffer.stride : 0);
  if (buffer.tier == Tier::host) return tiers.host.at(offset, buffer.bytes);
  auto const bytes = tiers.device_memory->at(offset, buffer.bytes);
  if (tiers.device.has_own_memory()) return bytes;
  return tiers.device.on_host(bytes);
}

HostBytes host_bytes(Tiers const& tiers, Buffer const& buffer, int parity) {
  auto const bytes = memory_bytes(tiers, buffer, parity);
  if (auto const* const on_host = std::get_if<HostBytes>(&bytes)) return *on_host;
  throw std::logic_error("the host cannot reach '" + buffer.name + "' in the device's memory");
}

HostBytes drive_memory(Tiers const& tiers) {
  if (tiers.device.has_own_memory()) return tiers.host.all();
  return tiers.device.on_host(tiers.device_memory->at(0, tiers.device_memory->bytes()));
}

std::vector<HostBytes> drive_memory(Tiers const& tiers, Program const& program) {
  auto const all = drive_memory(tiers);
  std::vector<HostBytes> parts;
  for (auto const& [first, last] : drive_ranges(program))
    parts.push_back(std::get<HostBytes>(part(all, first, last)));
  return parts;
}

MemoryBytes part(MemoryBytes const& bytes, std::int64_t first, std::int64_t last) {
  if (auto const* const on_device = std::get_if<DeviceBytes>(&bytes))
    return on_device->part(first, last - first);
  return std::get<HostBytes>(bytes).subspan(static_cast<std::size_t>(first),
                                            static_cast<std::size_t>(last - first));
}

DeviceBytes on_device(Device const& device, MemoryBytes const& bytes) {
  if (auto const* const there = std::get_if<DeviceBytes>(&bytes)) return *there;
  return device.on_device(std::get<HostBytes>(bytes));
}

void copy(Device& device, Stream* stream, MemoryBytes const& to, MemoryBytes const& from) {
  auto const between = [&](auto const& target, auto const& source) {
    constexpr bool on_host = std::is_same_v<decltype(target), HostBytes const&> &&
                             std::is_same_v<decltype(source), HostBytes const&>;
    if constexpr (on_host) {
      if (stream != nullptr)
        stream->copy(device.on_device(target), device.on_device(source));
      else
        std::memcpy(target.data(), source.data(), source.size());
    } else if (stream != nullptr) {
      stream->copy(target, source);
    } else {
      device.copy(target, source);
    }
  };
  std::visit(between, to, from);
}

Buffer const* find_buffer(Program const& program, TensorId tensor) {
  if (tensor < 0) return nullptr;
  for (auto const& buffer : program.buffers) {
    if (buffer.tensor == tensor && buffer.tier != Tier::nvme) return &buffer;
  }
  return nullptr;
}

}  // namespace spillway
