#include "plan/memory/layout.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>

#include "base/checked.hpp"
#include "base/math.hpp"
#include "plan/data/program.hpp"
#include "plan/memory/lifetime.hpp"
#include "plan/memory/occupied.hpp"

namespace spillway {

namespace {

// What makes a persistent buffer the same one in every program of a run: its place in its chunk.
// Tensor ids do, where a tensor belongs to no chunk.
using Identity = std::tuple<Tier, int, TensorId>;

Identity identity(Program const& program, Buffer const& buffer) {
  int const chunk = program.tensors[buffer.tensor].chunk;
  if (chunk < 0 || chunk >= static_cast<int>(program.chunks.size())) {
    return {buffer.tier, -1, buffer.tensor};
  }
  Chunk const& c = program.chunks[chunk];
  auto const state = std::ranges::find(c.states, buffer.tensor, &State::tensor);
  bool const is_parameter = buffer.tensor == c.parameter;
  return {buffer.tier, chunk, is_parameter ? -1 : static_cast<TensorId>(state - c.states.begin())};
}

// Persistent buffers one after the other, large ones first so that none needs a gap.
TierBytes place_persistent(std::span<Program*> programs) {
  std::map<Identity, std::int64_t> footprints;
  for (Program const* program : programs) {
    for (Buffer const& buffer : program->buffers) {
      if (buffer.persistent) footprints[identity(*program, buffer)] = footprint_bytes(buffer);
    }
  }
  std::vector<Identity> order;
  for (auto const& [key, bytes] : footprints) order.push_back(key);
  std::stable_partition(order.begin(), order.end(),
                        [&](Identity const& key) { return footprints[key] >= kPageBytes; });
  TierBytes end{};
  std::map<Identity, std::int64_t> offsets;
  for (Identity const& key : order) {
    auto& tier_end = end[std::get<Tier>(key)];
    offsets[key] = tier_end;
    tier_end += footprints[key];
  }
  for (Program* program : programs) {
    for (Buffer& buffer : program->buffers) {
      if (buffer.persistent) buffer.offset = offsets[identity(*program, buffer)];
    }
  }
  return end;
}

// A shape in (offset, time): the buffer's stays, which move together.
struct Placement {
  BufferId buffer;
  Lifetime const* stays;
  std::int64_t bytes, alignment, area, offset;
};

std::int64_t first_free(Occupied const& occupied, Placement const& p) {
  std::int64_t offset = 0;
  for (std::int64_t before = -1; before != offset;) {
    before = offset;
    for (Stay const& stay : *p.stays) offset = occupied.first_free(stay, p.alignment, offset);
    if (p.stays->size() == 1) break;
  }
  return offset;
}

// Each shape in turn goes to the lowest offset where its bytes are free when it needs them. Returns
// the peak.
std::int64_t place_first_fit(std::vector<Placement>& todo, std::size_t items) {
  Occupied occupied(items);
  std::int64_t peak = 0;
  for (Placement& p : todo) {
    p.offset = first_free(occupied, p);
    for (Stay const& stay : *p.stays) occupied.take(stay, p.offset);
    peak = std::max(peak, p.offset + p.bytes);
  }
  return peak;
}

// Two orders are tried: largest first, and, unless that was perfect, largest area (bytes x time)
// first.
std::vector<Placement> best_placement(std::vector<Placement> todo, std::int64_t bound,
                                      std::size_t items) {
  auto const by = [](auto weight) {
    return [weight](Placement const& a, Placement const& b) {
      return std::tuple(-weight(a), a.stays->front().first, a.buffer) <
             std::tuple(-weight(b), b.stays->front().first, b.buffer);
    };
  };
  auto const bytes = [](Placement const& p) { return p.bytes; };
  auto const area = [](Placement const& p) { return p.area; };
  std::sort(todo.begin(), todo.end(), by(bytes));
  auto const peak = place_first_fit(todo, items);
  if (peak <= bound) return todo;
  std::vector<Placement> by_area = todo;
  std::sort(by_area.begin(), by_area.end(), by(area));
  return place_first_fit(by_area, items) < peak ? by_area : todo;
}

// No layout can do with less than what is alive at one time.
std::int64_t transient_bound(Program const& program, std::vector<Lifetime> const& alive,
                             Tier tier) {
  auto const live = live_bytes(program, alive, tier);
  return live.empty() ? 0 : *std::max_element(live.begin(), live.end());
}

std::vector<Lifetime> transient_lifetimes(Program const& program) {
  auto alive = lifetimes(program);
  for (Buffer const& buffer : program.buffers) {
    if (buffer.persistent) alive[buffer.id].clear();
  }
  return alive;
}

std::int64_t area(Lifetime const& stays) {
  std::int64_t sum = 0;
  for (Stay const& stay : stays)
    sum = clamped_sum(
        sum, clamped_product(stay.last_byte - stay.first_byte, stay.last - stay.first + 1));
  return sum;
}

// Behind the persistent bytes, from the next place that suits every buffer.
void place_transient(Program& program, std::vector<Lifetime> const& alive, Tier tier,
                     std::int64_t persistent_bytes) {
  auto const base = round_up(persistent_bytes, alignment_bytes(kPageBytes, tier));
  std::vector<Placement> todo;
  for (Buffer& buffer : program.buffers) {
    Lifetime const& stays = alive[buffer.id];
    if (buffer.tier != tier || buffer.persistent) continue;
    buffer.offset = base;
    if (stays.empty()) continue;
    todo.push_back({buffer.id, &stays, footprint_bytes(buffer), alignment_bytes(buffer.bytes, tier),
                    area(stays), 0});
  }
  auto const bound = transient_bound(program, alive, tier);
  std::int64_t& peak = program.peak_bytes[tier];
  peak = persistent_bytes;
  for (Placement const& p : best_placement(std::move(todo), bound, program.items.size())) {
    program.buffers[p.buffer].offset = base + p.offset;
    peak = std::max(peak, base + p.offset + p.bytes);
  }
}

}  // namespace

void layout(std::span<Program*> programs) {
  for (Program* program : programs) {
    for (Buffer& buffer : program->buffers) {
      buffer.stride = buffer.versions > 1 ? footprint_bytes(buffer.bytes, buffer.tier) : 0;
    }
  }
  auto const persistent = place_persistent(programs);
  TierBytes peak{};
  for (Program* program : programs) {
    program->persistent_bytes = persistent;
    auto const alive = transient_lifetimes(*program);
    for (std::size_t tier = 0; tier < kTiers; ++tier) {
      place_transient(*program, alive, static_cast<Tier>(tier), persistent[tier]);
      peak[tier] = std::max(peak[tier], program->peak_bytes[tier]);
    }
  }
  for (Program* program : programs) program->peak_bytes = peak;
}

}  // namespace spillway
