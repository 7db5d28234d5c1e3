#include "runtime/poison.hpp"

#include <algorithm>
#include <cstring>

namespace spillway {
namespace {

bool uses(std::vector<Access> const& accesses, BufferId buffer) {
  return std::ranges::any_of(accesses, [&](auto const& a) { return a.buffer == buffer; });
}

// Returns whether a lifetime of the buffer can begin in a segment that a step runs `times` times.
// The lifetime of a spanning buffer begins only once a step.
bool can_begin(Buffer const& buffer, std::ptrdiff_t times) {
  return buffer.tier != Tier::nvme && !buffer.persistent && (!buffer.spanning || times == 1);
}

}  // namespace

void fill_with_nan(Device& device, MemoryBytes const& bytes) {
  if (auto const* const on_device = std::get_if<DeviceBytes>(&bytes))
    return device.fill(*on_device, kNoNumber);
  auto const on_host = std::get<HostBytes>(bytes);
  std::memset(on_host.data(), std::to_integer<int>(kNoNumber), on_host.size());
}

std::vector<std::vector<Access>> first_writes(Program const& program) {
  std::vector<std::vector<Access>> result(program.items.size());
  std::vector<bool> begun(program.buffers.size());
  auto const sequence = segment_sequence(program);
  for (auto at = sequence.begin(); at != sequence.end(); ++at) {
    if (std::find(sequence.begin(), at, *at) != at) continue;
    auto const& segment = program.segments[static_cast<std::size_t>(*at)];
    for (auto const& buffer : program.buffers) {
      if (!buffer.spanning) begun[static_cast<std::size_t>(buffer.id)] = false;
    }
    auto const times = std::ranges::count(sequence, *at);
    for (auto n = segment.first; n < segment.last; ++n) {
      auto const& item = program.items[static_cast<std::size_t>(n)];
      for (auto const& write : item.writes) {
        auto const id = static_cast<std::size_t>(write.buffer);
        if (begun[id] || uses(item.reads, write.buffer)) continue;
        if (can_begin(program.buffers[id], times))
          result[static_cast<std::size_t>(n)].push_back(write);
      }
      for (auto const& access : item.writes) begun[static_cast<std::size_t>(access.buffer)] = true;
      for (auto const& access : item.reads) begun[static_cast<std::size_t>(access.buffer)] = true;
    }
  }
  return result;
}

}  // namespace spillway
