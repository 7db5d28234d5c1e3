#include "plan/memory/layout.hpp"

#include <algorithm>
#include <map>
#include <tuple>

#include "base/checked.hpp"
#include "base/math.hpp"
#include "plan/memory/movable.hpp"
#include "plan/memory/occupied.hpp"
#include "plan/memory/spread.hpp"

namespace spillway {

namespace {

// An Identity is equal for buffers of several Programs that are the same persistent buffer: in the
// same tier, they hold the same state of a chunk or, outside of chunks, a tensor of the same id.
using Identity = std::tuple<Tier, int, TensorId>;

Identity identity(Program const& program, Buffer const& buffer) {
  int const chunk = program.tensors[buffer.tensor].chunk;
  if (chunk < 0 || chunk >= std::ssize(program.chunks)) return {buffer.tier, -1, buffer.tensor};
  Chunk const& c = program.chunks[chunk];
  if (buffer.tensor == c.parameter) return {buffer.tier, chunk, -1};
  if (buffer.tensor == c.parameter_slice) return {buffer.tier, chunk, -2};
  auto const state = std::ranges::find(c.states, buffer.tensor, &State::tensor);
  return {buffer.tier, chunk, static_cast<TensorId>(state - c.states.begin())};
}

// Places persistent buffers one after the other, large ones first, so that alignment leaves no
// gaps. Returns for each tier where its last persistent buffer ends.
TierBytes lay_out_persistent(std::span<Program*> programs) {
  std::map<Identity, std::vector<Buffer*>> buffers;
  for (Program* program : programs) {
    for (Buffer& buffer : program->buffers)
      if (buffer.persistent) buffers[identity(*program, buffer)].push_back(&buffer);
  }
  TierBytes end{};
  for (bool const large : {true, false}) {
    for (auto const& [key, same] : buffers) {
      auto const bytes = footprint_bytes(*same.back());
      if ((bytes >= kPageBytes) != large) continue;
      auto& tier_end = end[std::get<Tier>(key)];
      for (Buffer* buffer : same) buffer->offset = tier_end;
      tier_end += bytes;
    }
  }
  return end;
}

// Says whether `next` can begin where the end of `parted` is when it is not away: the end has left
// when `next` is first used, and comes back when it is not used any more.
bool may_follow(Movable const& parted, Movable const& next) {
  Stay const &leaves = (*parted.stays)[0], &returns = (*parted.stays)[1];
  Stay const &begins = (*next.stays)[0], &ends = (*next.stays)[1];
  bool const is_within = leaves.last < begins.first && ends.last < returns.first;
  return is_within || returns.last < begins.first;
}

// Returns the fewest chains such that each buffer may follow the one before it in its chain.
std::size_t fewest_chains(std::vector<Movable*> const& parted) {
  for (std::size_t chains = 1; chains < parted.size(); ++chains) {
    bool all = true;
    for (std::size_t i = chains; all && i < parted.size(); ++i)
      all = may_follow(*parted[i - chains], *parted[i]);
    if (all) return chains;
  }
  return parted.size();
}

// Deals parted buffers of one size out to chains, in each of which a buffer begins where the end of
// the one before was. In the order of time, buffers that are whole together would be neighbours,
// and the gaps that their ends leave would be too small for another whole one.
void deal_out_to_chains(std::vector<Movable>& todo) {
  std::map<std::int64_t, std::vector<Movable*>> by_size;
  for (Movable& p : todo)
    if (p.is_parted()) by_size[p.bytes].push_back(&p);
  for (auto& [bytes, parted] : by_size) {
    std::ranges::stable_sort(parted, {}, [](Movable const* p) { return p->stays->front().first; });
    auto const chains = fewest_chains(parted);
    for (std::size_t i = 0; i < parted.size(); ++i) parted[i]->chain = i % chains;
  }
}

// Gives each buffer in turn the lowest offset that is free while it is alive. Returns the peak.
std::int64_t first_fit(std::vector<Movable>& todo, std::size_t items) {
  Occupied occupied(items);
  std::int64_t peak = 0;
  for (Movable& p : todo) {
    p.offset = occupied.first_free(*p.stays, p.alignment, 0);
    for (Stay const& stay : *p.stays) occupied.take(stay, p.offset);
    peak = std::max(peak, p.offset + p.bytes);
  }
  return peak;
}

// Tries two orders, largest buffers first and largest areas first, and returns the result with the
// lower peak. The second order is not tried if the peak of the first one is `bound` or less.
// In both orders reserved buffers come first.
std::vector<Movable> best_fit(std::vector<Movable> todo, std::int64_t bound, std::size_t items) {
  auto const fit_by = [items](std::int64_t Movable::*weight, std::vector<Movable>& order) {
    std::ranges::sort(order, {}, [weight](Movable const& p) {
      return std::tuple(!p.reserved, -(p.*weight), p.chain, p.stays->front().first, p.buffer);
    });
    return first_fit(order, items);
  };
  auto const peak = fit_by(&Movable::bytes, todo);
  if (peak <= bound) return todo;
  auto by_area = todo;
  return fit_by(&Movable::area, by_area) < peak ? by_area : todo;
}

// Returns a buffer's area, which is its bytes times the number of items that need them.
std::int64_t area(Lifetime const& stays) {
  std::int64_t sum = 0;
  for (Stay const& stay : stays)
    sum = clamped_sum(
        sum, clamped_product(stay.last_byte - stay.first_byte, stay.last - stay.first + 1));
  return sum;
}

// Places the transient buffers behind the persistent bytes, from an offset that is aligned for
// every buffer. Returns the peak.
std::int64_t lay_out_transient(Program& program, Lifetimes const& alive, Tier tier) {
  auto peak = program.persistent_bytes[tier];
  auto const base = round_up(peak, alignment_bytes(kPageBytes, tier));
  std::vector<Movable> todo;
  for (Buffer& buffer : program.buffers) {
    Lifetime const& stays = alive[buffer.id];
    if (buffer.tier != tier || buffer.persistent) continue;
    buffer.offset = base;
    if (stays.empty()) continue;
    todo.push_back({buffer.id, &stays, footprint_bytes(buffer), alignment_bytes(buffer.bytes, tier),
                    area(stays), 0, buffer.reserved});
  }
  deal_out_to_chains(todo);
  // No layout can have a lower peak than the most bytes that are alive at one time.
  auto const live = live_bytes(program, alive, tier);
  auto const bound = live.empty() ? 0 : std::ranges::max(live);
  auto placed = best_fit(std::move(todo), bound, program.items.size());
  if (placed.empty()) return peak;
  std::int64_t end = 0;
  for (Movable const& p : placed) end = std::max(end, p.offset + p.bytes);
  spread(placed, program, end);
  for (Movable const& p : placed) program.buffers[p.buffer].offset = base + p.offset;
  return base + end;
}

}  // namespace

void layout(std::span<Program*> programs) {
  auto const persistent = lay_out_persistent(programs);
  TierBytes peak{};
  for (Program* program : programs) {
    program->persistent_bytes = persistent;
    auto alive = lifetimes(*program);
    for (Buffer& buffer : program->buffers) {
      buffer.stride = buffer.versions > 1 ? footprint_bytes(buffer.bytes, buffer.tier) : 0;
      if (buffer.persistent) alive[buffer.id].clear();
    }
    for (Tier const tier : kTiersInOrder)
      peak[tier] = std::max(peak[tier], lay_out_transient(*program, alive, tier));
  }
  for (Program* program : programs) program->peak_bytes = peak;
}

}  // namespace spillway
