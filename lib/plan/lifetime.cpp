#include "plan/lifetime.hpp"

#include <algorithm>
#include <numeric>

#include "base/math.hpp"

namespace spillway {

namespace {

void extend(Lifetime& lifetime, ItemNumber first, ItemNumber last) {
  lifetime.first = lifetime.empty() ? first : std::min(lifetime.first, first);
  lifetime.last = std::max(lifetime.last, last);
}

// What comes into a repeated segment is there for all its repetitions.
void extend_over_repetitions(Lifetime& lifetime, Segment const& segment) {
  bool const comes_in = lifetime.first < segment.first && lifetime.last >= segment.first;
  if (comes_in) lifetime.last = std::max(lifetime.last, segment.last - 1);
}

}  // namespace

std::vector<Lifetime> lifetimes(Program const& program) {
  auto const end = static_cast<ItemNumber>(program.items.size()) - 1;
  std::vector<Lifetime> result(program.buffers.size());
  std::vector<bool> read(program.buffers.size(), false);
  for (Item const& item : program.items) {
    auto const use = [&](Access const& access) {
      extend(result[static_cast<std::size_t>(access.buffer)], item.number,
             std::max(item.number, item.horizon));
    };
    std::for_each(item.writes.begin(), item.writes.end(), use);
    for (Access const& access : item.reads) {
      use(access);
      read[static_cast<std::size_t>(access.buffer)] = true;
    }
  }
  for (Segment const& segment : program.segments) {
    if (segment.name != "middle") continue;
    for (Lifetime& lifetime : result) extend_over_repetitions(lifetime, segment);
  }
  for (Buffer const& buffer : program.buffers) {
    Lifetime& lifetime = result[static_cast<std::size_t>(buffer.id)];
    if (buffer.persistent || buffer.versions > 1) lifetime = {0, end};
    bool const kept_for_user = buffer.spanning && !read[static_cast<std::size_t>(buffer.id)];
    if (kept_for_user && !lifetime.empty()) lifetime.last = end;
  }
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

std::vector<std::int64_t> live_bytes(Program const& program, std::vector<Lifetime> const& lifetimes,
                                     Tier tier) {
  std::vector<std::int64_t> change(program.items.size() + 1, 0);
  for (Buffer const& buffer : program.buffers) {
    Lifetime const& lifetime = lifetimes[static_cast<std::size_t>(buffer.id)];
    if (buffer.tier != tier || lifetime.empty()) continue;
    change[static_cast<std::size_t>(lifetime.first)] += footprint_bytes(buffer);
    change[static_cast<std::size_t>(lifetime.last) + 1] -= footprint_bytes(buffer);
  }
  std::partial_sum(change.begin(), change.end(), change.begin());
  change.pop_back();
  return change;
}

}  // namespace spillway
