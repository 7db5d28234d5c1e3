#include "plan/memory/drive_ranges.hpp"

#include <algorithm>

#include "base/math.hpp"
#include "plan/memory/lifetime.hpp"

namespace spillway {

namespace {

// Joins ranges that overlap or touch each other.
std::vector<ByteRange> joined(std::vector<ByteRange> ranges) {
  std::ranges::sort(ranges, {}, &ByteRange::first);
  std::vector<ByteRange> result;
  for (ByteRange const& range : ranges) {
    if (result.empty() || result.back().last < range.first)
      result.push_back(range);
    else
      result.back().last = std::max(result.back().last, range.last);
  }
  return result;
}

}  // namespace

std::vector<ByteRange> drive_ranges(Program const& program) {
  auto const tier = drive_tier(program.unified);
  auto const peak = program.peak_bytes[tier];
  std::vector<ByteRange> ranges;
  for (Item const& item : program.items) {
    if (item.lane != Lane::nvme_read && item.lane != Lane::nvme_write) continue;
    bool const to_memory = item.lane == Lane::nvme_read;
    for (Access const& access : to_memory ? item.writes : item.reads) {
      Buffer const& buffer = program.buffers[access.buffer];
      // A copy that takes changed state back reads the control words too, which it does not move.
      bool const is_copied = buffer.id == item.operands[to_memory ? 1 : 0];
      if (!is_copied || buffer.tier != tier) continue;
      for (int version = 0; version < buffer.versions; ++version) {
        auto const begin = buffer.offset + version * buffer.stride;
        ranges.push_back({(begin + access.first) / kPageBytes * kPageBytes,
                          std::min(round_up(begin + access.last, kPageBytes), peak)});
      }
    }
  }
  return joined(std::move(ranges));
}

}  // namespace spillway
