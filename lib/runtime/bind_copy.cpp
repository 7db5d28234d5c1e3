#include <algorithm>
#include <cassert>
#include <cstring>

#include "io/spill/spill_file.hpp"
#include "plan/lifetime.hpp"
#include "runtime/bind.hpp"

namespace spillway {

static_assert(kSpillBytes == kSpillAlignment);  // so layout's offsets are the file's

namespace {

// The part of `buffer` that a copy declares: from the first to the last byte.
Access moved(std::vector<Access> const& accesses, Buffer const& buffer) {
  Access all{buffer.id, buffer.bytes, 0, {}};
  for (auto const& access : accesses) {
    if (access.buffer != buffer.id) continue;
    all.first = std::min(all.first, access.first);
    all.last = std::max(all.last, access.last);
  }
  return all;
}

std::span<std::byte> sub(std::span<std::byte> bytes, Access const& access) {
  return bytes.subspan(static_cast<std::size_t>(access.first),
                       static_cast<std::size_t>(access.last - access.first));
}

// Where a buffer's two versions lie in the spill file.
using SpillPlace = std::array<std::int64_t, 2>;  // offsets in bytes

SpillPlace spill_place(Buffer const& buffer, Access const& access) {
  SpillPlace place{};
  for (int parity = 0; parity < 2; ++parity) {
    auto const i = static_cast<std::size_t>(parity);
    auto const version = buffer.versions > 1 ? parity * buffer.stride : 0;
    place[i] = buffer.offset + version + access.first;
  }
  return place;
}

// A failed transfer is noted and otherwise done: the commit tells all ranks, and the step is not
// committed.
Action bind_reload(EngineParts const& parts, StepRecord& record, SpillPlace place,
                   std::array<std::span<std::byte>, 2> to) {
  return [&spill = *parts.tiers.spill, &record, place, to](ItemContext const& now) {
    auto const i = static_cast<std::size_t>(now.parity);
    if (spill.read(place[i], to[i]) != IoResult::ok) {
      record.storage_failed = true;
    }
    record.reloaded_bytes += static_cast<std::int64_t>(to[i].size());
  };
}

Action bind_spill(EngineParts const& parts, StepRecord& record, SpillPlace place,
                  std::array<std::span<std::byte>, 2> from) {
  return [&spill = *parts.tiers.spill, &record, place, from](ItemContext const& now) {
    auto const i = static_cast<std::size_t>(now.parity);
    if (spill.write(place[i], from[i]) != IoResult::ok) {
      record.storage_failed = true;
    }
    record.spilled_bytes += static_cast<std::int64_t>(from[i].size());
  };
}

}  // namespace

Action bind_copy(EngineParts const& parts, StepRecord& record, Item const& item) {
  auto const& source = operand(parts.program, item, 0);
  auto const& target = operand(parts.program, item, 1);
  auto read = moved(item.reads, source);
  auto const write = moved(item.writes, target);
  // The gap behind a slice's last parameter goes along, though nothing reads it.
  read.last = read.first + write.last - write.first;
  assert(read.last <= source.bytes);
  assert(parts.tiers.spill || (source.tier != Tier::nvme && target.tier != Tier::nvme));

  std::array<std::span<std::byte>, 2> from, to;
  for (std::size_t i = 0; i < 2; ++i) {
    auto const parity = static_cast<int>(i);
    if (source.tier != Tier::nvme) from[i] = sub(buffer_bytes(parts.tiers, source, parity), read);
    if (target.tier != Tier::nvme) to[i] = sub(buffer_bytes(parts.tiers, target, parity), write);
  }
  if (source.tier == Tier::nvme) return bind_reload(parts, record, spill_place(source, read), to);
  if (target.tier == Tier::nvme) return bind_spill(parts, record, spill_place(target, write), from);
  return [from, to](ItemContext const& now) {
    auto const i = static_cast<std::size_t>(now.parity);
    std::memcpy(to[i].data(), from[i].data(), from[i].size());
  };
}

}  // namespace spillway
