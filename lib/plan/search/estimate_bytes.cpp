#include "plan/search/estimate_bytes.hpp"

#include <algorithm>

#include "base/math.hpp"
#include "plan/schedule/streaming.hpp"
#include "plan/search/plan_costs.hpp"

namespace spillway {

namespace {

// Slots through which slices of state and gradients pass, by the tier in which they are changed.
// Each has room for every operand that any chunk brings there, as large as the largest slice.
TierBytes slot_bytes(BlockModel const& model, Plan const& plan) {
  struct Slots {
    std::int64_t pieces = 0, elements = 0;
    std::array<double, 3> bytes_per_element{};  // of an operand
  };
  std::array<Slots, kTiers> all;
  for (std::size_t c = 0; c < model.chunks.size(); ++c) {
    auto const& chunk = model.chunks[c];
    auto const needs = brought(chunk, plan.chunks[c], plan.unified);
    if (needs.all_bytes() == 0) continue;
    auto& slots = all[index(plan.chunks[c].update)];
    auto const slice = slice_elements(chunk, plan);
    slots.pieces += div_ceil(chunk.elements, slice);
    slots.elements = std::max(slots.elements, slice);
    for (std::size_t i = 0; i < slots.bytes_per_element.size(); ++i) {
      auto& most = slots.bytes_per_element[i];
      most = std::max(
          most, static_cast<double>(needs.operand_bytes[i]) / static_cast<double>(chunk.elements));
    }
  }
  TierBytes bytes{};
  for (std::size_t tier = 0; tier < kTiers; ++tier) {
    auto const& [pieces, elements, each] = all[tier];
    auto const room = static_cast<double>(std::min<std::int64_t>(kUpdateSlots, pieces) * elements);
    bytes[tier] = static_cast<std::int64_t>(room * (each[0] + each[1] + each[2]));
  }
  return bytes;
}

// Bytes that come and go, station by station: every block's forward pass, then in reverse every
// block's backward pass, then the update.
class Walk {
 public:
  Walk(BlockModel const& model, Plan const& plan, bool accumulates)
      : m_model(model),
        m_plan(plan),
        m_accumulates(accumulates),
        m_blocks(static_cast<int>(model.blocks.size())),
        m_stations(2 * model.blocks.size() + 1) {
    add_activations();
    add_slots();
    for (std::size_t c = 0; c < model.chunks.size(); ++c) {
      add_parameters(model.chunks[c], plan.chunks[c]);
      add_gradient(model.chunks[c], plan.chunks[c]);
    }
  }

  StationBytes bytes() const {
    StationBytes result;
    result.on_device.reserve(m_stations.size());
    std::array<TierBytes, kTimes> sums{};
    auto const bytes = [&](std::size_t tier, TierBytes const& late) {
      return sums[always][tier] +
             std::max(sums[first_micro_batch][tier] + late[tier], sums[other_micro_batches][tier]);
    };
    auto const note = [&](TierBytes const& more, TierBytes const& late) {
      for (std::size_t tier = 0; tier < kTiers; ++tier)
        result.most[tier] = std::max(result.most[tier], bytes(tier, late) + more[tier]);
    };
    std::int64_t reserved_bytes = 0;
    for (Station const& station : m_stations) {
      reserved_bytes += station.reserves_bytes;
      auto at_begin = station.at_begin;
      at_begin[index(Tier::device)] += station.first_fetched_bytes + reserved_bytes;
      note(at_begin, station.late_at_begin);
      add(sums, station.comes, 1);
      note({}, {});
      result.on_device.push_back(bytes(index(Tier::device), {}));
      add(sums, station.goes, -1);
    }
    return result;
  }

 private:
  // The first micro-batch has beside it what updates of the step before still hold; the others,
  // the sums of gradients so far.
  enum Time : std::uint8_t { always, first_micro_batch, other_micro_batches, kTimes };

  // Two moments: its begin, when there is none of its own bytes yet but still what a late update of
  // the step before holds; and its pass.
  struct Station {
    std::array<TierBytes, kTimes> comes{}, goes{};  // for the pass, and after it
    TierBytes at_begin{};                           // beside what stays from the station before
    TierBytes late_at_begin{};                      // in the first micro-batch
    std::int64_t first_fetched_bytes = 0;  // at its begin: others are when that has let go of some
    std::int64_t reserves_bytes = 0;       // from its begin on, beside what is kept; less, if < 0
  };

  int backward_station(int block) const { return 2 * m_blocks - 1 - block; }
  int update_station() const { return 2 * m_blocks; }
  Station& at(int station) { return m_stations[static_cast<std::size_t>(station)]; }
  void hold(Tier tier, int first, int last, std::int64_t bytes, Time time = always) {
    if (first > last) return;
    at(first).comes[time][index(tier)] += bytes;
    at(last).goes[time][index(tier)] += bytes;
  }
  static void add(std::array<TierBytes, kTimes>& sums, std::array<TierBytes, kTimes> const& more,
                  int sign) {
    for (std::size_t time = 0; time < kTimes; ++time)
      for (std::size_t tier = 0; tier < kTiers; ++tier) sums[time][tier] += sign * more[time][tier];
  }

  void add_activations() {
    std::int64_t kept = 0;  // by the blocks before
    for (int b = 0; b < m_blocks; ++b) {
      auto const block = static_cast<std::size_t>(b);
      auto const& cost = m_model.blocks[block].policies[index(m_plan.blocks[block].policy)];
      auto const away = away_bytes(m_model, m_plan, block);
      at(b).at_begin[index(Tier::device)] += kept;
      hold(Tier::device, b, b, kept + cost.forward_bytes);
      hold(Tier::device, backward_station(b), backward_station(b), kept + cost.backward_bytes);
      // It is expected to be gone by the end of the next block.
      if (b + 1 < m_blocks) hold(Tier::device, b + 1, b + 1, away);
      kept += cost.kept_bytes + cost.away_bytes - away;
    }
  }

  // Those that come and go: from when they are fetched to their last use before they are dropped.
  void add_parameters(ChunkCost const& chunk, ChunkPlan const& places) {
    if (places.parameters == Tier::device && chunk.fetch_sent_bytes == 0) return;
    for_each_visit(chunk.readers, m_plan.prefetch, [&](Visit const& visit) {
      hold(Tier::device, visit.first, visit.last, chunk.parameter_bytes);
      auto& first_bytes = at(visit.first).first_fetched_bytes;
      if (first_bytes == 0) first_bytes = chunk.parameter_bytes;
    });
  }

  // What the host lane has at the end of a step it may still have beside the next one's forward
  // pass, until what it changes is read: at the begin of this station. -1: not even then.
  int held_until(ChunkCost const& chunk, ChunkPlan const& places) const {
    if (!m_plan.redo || places.update != Tier::host) return -1;
    bool const comes = places.parameters != Tier::device;
    return comes ? fetched_at(-1, chunk.first_block, m_plan.prefetch) : chunk.first_block;
  }

  void hold_until(Tier tier, int station, std::int64_t bytes) {
    if (station < 0) return;
    hold(tier, 0, station - 1, bytes, first_micro_batch);
    at(station).late_at_begin[index(tier)] += bytes;
  }

  void add_slots() {
    auto const slots = slot_bytes(m_model, m_plan);
    auto const host = m_plan.unified ? Tier::device : Tier::host;
    int const begin = m_plan.redo ? update_station() : m_blocks;
    hold(Tier::device, begin, update_station(), slots[index(Tier::device)]);
    hold(host, begin, update_station(), slots[index(Tier::host)]);
    // The last slices' are in use for longest.
    std::int64_t left = slots[index(Tier::host)] > 0 ? kUpdateSlots : 0;
    for (std::size_t c = m_model.chunks.size(); c-- > 0 && left > 0;) {
      auto const& chunk = m_model.chunks[c];
      auto const& places = m_plan.chunks[c];
      if (brought(chunk, places, m_plan.unified).all_bytes() == 0) continue;
      auto const used = std::min(left, div_ceil(chunk.elements, slice_elements(chunk, m_plan)));
      hold_until(host, held_until(chunk, places), used * slots[index(Tier::host)] / kUpdateSlots);
      left -= used;
    }
  }

  // A micro-batch's part, from its first contribution until it has joined the step's where that
  // lies; the step's, until it is used up.
  void add_gradient(ChunkCost const& chunk, ChunkPlan const& places) {
    if (!chunk.trainable) return;
    add_parts(chunk, places);
    int const begin = backward_station(chunk.last_block);
    int const own = backward_station(m_accumulates ? chunk.own_block : chunk.first_block);
    int const complete = backward_station(chunk.first_block);
    // What ranks exchange: on the host, activations have left as much room by then.
    bool const exchanges = chunk.scatter_sent_bytes > 0 && places.gradients == Tier::device;
    int const beside = groups_until_updated(exchanges) + kGroupsBeside;
    int const used = m_plan.redo ? update_station() : std::min(complete + beside, update_station());
    if (exchanges)
      hold(Tier::device, complete, complete + 1, chunk.gradient_bytes);  // others' parts
    bool const whole = chunk.held_gradient_bytes == chunk.gradient_bytes;
    bool const one = places.gradients == Tier::device && !m_accumulates && whole;
    // A copy is expected to be done by the end of the next block.
    int const gone_by = std::min(own + 1, backward_station(0));
    bool const leaves = places.gradients == Tier::host;
    if (!one) hold(Tier::device, begin, leaves ? gone_by : own, chunk.gradient_bytes);
    if (leaves && m_accumulates && !m_plan.unified)
      hold(Tier::host, own, own, chunk.gradient_bytes);
    int const since = one ? begin : m_accumulates ? 0 : complete;
    hold(places.gradients, since, m_accumulates ? update_station() : used,
         chunk.held_gradient_bytes, m_accumulates ? other_micro_batches : always);
    int const until = held_until(chunk, places);
    if (m_accumulates || since > until)
      hold_until(places.gradients, until, chunk.held_gradient_bytes);
    if (one) reserve_place(chunk, until);
  }

  // In one micro-batch a part is there while it is made; over several its sum is, until the last
  // one adds it.
  void add_parts(ChunkCost const& chunk, ChunkPlan const& places) {
    for (PartCost const& part : chunk.parts) {
      auto const station = backward_station(part.block);
      if (m_accumulates || !part.fused) hold(Tier::device, station, station, part.bytes);
      if (m_accumulates)
        hold(places.gradients, 0, backward_station(chunk.first_block), part.bytes,
             other_micro_batches);
    }
  }

  // A gradient's place is of no use, between one step's and the next one's, to what is kept: that
  // is still there when the gradient comes again.
  void reserve_place(ChunkCost const& chunk, int held_until) {
    if (held_until >= chunk.last_block) return;
    at(held_until + 1).reserves_bytes += chunk.gradient_bytes;
    at(chunk.last_block + 1).reserves_bytes -= chunk.gradient_bytes;
  }

  BlockModel const& m_model;
  Plan const& m_plan;
  bool m_accumulates;
  int m_blocks;
  std::vector<Station> m_stations;
};

}  // namespace

StationBytes station_bytes(BlockModel const& model, Plan const& plan, bool accumulates) {
  return Walk(model, plan, accumulates).bytes();
}

}  // namespace spillway
