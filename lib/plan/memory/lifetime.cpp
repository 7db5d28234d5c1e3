#include "plan/memory/lifetime.hpp"

#include <algorithm>
#include <numeric>

#include "base/math.hpp"

namespace spillway {

namespace {

// A Reload says that `item` copies back a part of a buffer that `used_until` was the last to use.
struct Reload {
  ItemNumber item = -1, used_until = -1;
  std::int64_t first_byte = 0, last_byte = 0;
};

// A Use says that items from `first` to `last` use a buffer. `last` may lie in the next step.
struct Use {
  ItemNumber first = 0, last = -1;
  bool read = false;
  Reload reload;

  bool empty() const { return last < first; }
  void extend(ItemNumber from, ItemNumber to) {
    first = empty() ? from : std::min(first, from);
    last = std::max(last, to);
  }
};

// Returns whether an item's write to `buffer` brings back a part of a saved activation.
bool is_reload(Program const& program, Item const& item, BufferId buffer, Use const& use) {
  Tensor const& tensor = program.tensors[program.buffers[buffer].tensor];
  return tensor.is_activation() && item.kind == ItemKind::copy && use.read &&
         use.last < item.number;
}

IdVector<Use> uses(Program const& program) {
  IdVector<Use> result(program.buffers.size());
  for (Item const& item : program.items) {
    auto const until = std::max(item.number, item.horizon);
    for (Access const& access : item.reads) {
      auto& use = result[access.buffer];
      use.extend(item.number, until);
      use.read = true;
    }
    for (Access const& access : item.writes) {
      auto& use = result[access.buffer];
      bool const goes_on = item.kind == ItemKind::copy && use.reload.last_byte > 0 &&
                           access.first == use.reload.last_byte;
      if (goes_on)
        use.reload.last_byte = access.last;  // the next piece of the same reload
      else if (is_reload(program, item, access.buffer, use))
        use.reload = {item.number, use.last, access.first, access.last};
      use.extend(item.number, until);
    }
  }
  return result;
}

// Adds a stay to `stays`. A stay that reaches into the next step becomes two stays. The second one
// begins at item 0 and ends before the item that uses the buffer first, or earlier.
void add_stay(Lifetime& stays, Stay stay, Use const& use, ItemNumber items) {
  if (stay.first_byte >= stay.last_byte) return;
  auto const wrapped = std::min(stay.last - items, use.first - 1);
  stay.last = std::min(stay.last, items - 1);
  stays.push_back(stay);
  if (wrapped >= 0) stays.push_back({0, wrapped, stay.first_byte, stay.last_byte});
}

Lifetime lifetime(Buffer const& buffer, Use use, ItemNumber items) {
  auto const bytes = footprint_bytes(buffer);
  bool const always = buffer.persistent || buffer.reserved || buffer.versions > 1;
  if (always) return {{0, items - 1, 0, bytes}};
  if (use.empty()) return {};
  if (buffer.spanning && !use.read) use.last = std::max(use.last, items - 1);
  Lifetime stays;
  auto const add = [&](Stay const& stay) { add_stay(stays, stay, use, items); };
  auto const& reload = use.reload;  // The byte range of a Reload is empty if nothing is reloaded.
  auto const part_end = reload.last_byte == buffer.bytes ? bytes : reload.last_byte;
  add({use.first, reload.used_until, reload.first_byte, part_end});
  add({reload.item, use.last, reload.first_byte, part_end});
  add({use.first, use.last, 0, reload.first_byte});
  add({use.first, use.last, part_end, bytes});
  return stays;
}

}  // namespace

Lifetimes lifetimes(Program const& program) {
  auto all = uses(program);
  for (Segment const& segment : program.segments) {
    if (!segment.is_middle()) continue;
    // A buffer that is alive when a repeated segment begins must stay for all repetitions.
    for (Use& use : all)
      if (use.first < segment.first && use.last >= segment.first)
        use.last = std::max(use.last, segment.last - 1);
  }
  auto const items = static_cast<ItemNumber>(program.items.size());
  Lifetimes result;
  for (Buffer const& buffer : program.buffers)
    result.push_back(lifetime(buffer, all[buffer.id], items));
  return result;
}

std::int64_t alignment_bytes(std::int64_t bytes, Tier tier) {
  if (tier == Tier::nvme) return kSpillBytes;
  return bytes >= kPageBytes ? kPageBytes : kLineBytes;
}

std::int64_t footprint_bytes(std::int64_t bytes, Tier tier) {
  return round_up(bytes, alignment_bytes(bytes, tier));
}

std::int64_t footprint_bytes(Buffer const& buffer) {
  return footprint_bytes(buffer.bytes, buffer.tier) * buffer.versions;
}

IdVector<std::int64_t> live_bytes(Program const& program, Lifetimes const& lifetimes, Tier tier) {
  IdVector<std::int64_t> change(program.items.size() + 1, 0);
  for (Buffer const& buffer : program.buffers) {
    if (buffer.tier != tier) continue;
    for (Stay const& stay : lifetimes[buffer.id]) {
      change[stay.first] += stay.last_byte - stay.first_byte;
      change[stay.last + 1] -= stay.last_byte - stay.first_byte;
    }
  }
  std::partial_sum(change.begin(), change.end(), change.begin());
  change.pop_back();
  return change;
}

}  // namespace spillway
