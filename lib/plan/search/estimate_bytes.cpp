#include "plan/search/estimate_bytes.hpp"

#include <algorithm>
#include <utility>

#include "base/math.hpp"
#include "plan/search/block_shape.hpp"

namespace spillway {

namespace {

// Slots through which slices of state and gradients pass, by the tier in which they are changed.
// Each has room for every operand that any chunk brings there, as large as the largest slice.
TierBytes slot_bytes(BlockModel const& model, Plan const& plan) {
  struct Slots {
    std::int64_t pieces = 0, elements = 0;
    std::array<double, 3> bytes_per_element{};  // of an operand
  };
  PerTier<Slots> all;
  for (std::size_t c = 0; c < model.chunks.size(); ++c) {
    auto const& chunk = model.chunks[c];
    auto const needs = brought(chunk, plan.chunks[c], plan.unified);
    if (needs.all_bytes() == 0) continue;
    auto& slots = all[plan.chunks[c].update];
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

// The bytes alive in a step, station by station, and in the update behind them: a Sink of
// tell_step.hpp. It hears one micro-batch, which stands for the first one and for all others:
// beside the first lies what updates of the step before still hold, beside the others the sums of
// gradients so far.
class Ledger : public StepSink {
 public:
  Ledger(BlockModel const& model, Plan const& plan, BlockShape const& shape, bool several)
      : m_model(model),
        m_plan(plan),
        m_shape(shape),
        m_several(several),
        m_slots(slot_bytes(model, plan)),
        m_stations(2 * model.blocks.size() + 2) {
    m_result.on_device.reserve(m_stations.size());
    hold_what_late_updates_do();
    if (several) hold_sums();
  }

  StationBytes take() { return std::move(m_result); }

  void enter(Station const& at) { enter(at.number); }
  void enter(int station) {
    leave_station();
    m_station = station;
    m_comes = m_at_begin = {};
    m_first_fetched_bytes = 0;
    hold(Tier::device, station, std::exchange(m_leaving_bytes, 0));
    if (!m_plan.redo && station == m_shape.blocks()) hold_slots();
  }
  void fetch(int c, Station const&) {
    auto const bytes = m_shape.chunk(c).parameter_bytes;
    m_comes[Tier::device] += bytes;
    if (m_first_fetched_bytes == 0) m_first_fetched_bytes = bytes;
  }
  void drop(int c, Station const& from) {
    at(from.number).goes[Tier::device] += m_shape.chunk(c).parameter_bytes;
  }
  void forward(Station const& at, int) {
    int const b = at.block;
    auto const& cost = m_model.blocks[b].policies[policy_of(b)];
    m_at_begin[Tier::device] += m_kept_bytes;
    hold(Tier::device, b, m_kept_bytes + cost.forward_bytes);
    m_kept_bytes += cost.kept_bytes + cost.away_bytes;
  }
  // It is expected to be gone by the end of the next block.
  void leave(Station const& at, AwayPart const& part) {
    m_kept_bytes -= part.bytes;
    if (at.block + 1 < m_shape.blocks()) m_leaving_bytes += part.bytes;
  }
  void backward(Station const& at, int) {
    int const b = at.block;
    auto const& cost = m_model.blocks[b].policies[policy_of(b)];
    m_kept_bytes -= cost.kept_bytes + cost.away_bytes - m_shape.away_bytes(b);
    hold(Tier::device, m_station, m_kept_bytes + cost.backward_bytes);
    for (int const c : m_model.blocks[b].chunks) make_gradient(c, b);
  }
  void collect(GradientId id, Station const&) {
    auto const& chunk = m_shape.chunk(id.chunk);
    auto const& places = m_shape.places(id.chunk);
    if (id.part >= 0) return;
    if (!m_several && !is_the_steps_own(chunk, places))
      hold(places.gradients, used_until(chunk, places), chunk.held_gradient_bytes);
    if (m_several && places.gradients == Tier::host && !m_plan.unified)
      hold(Tier::host, m_station, chunk.gradient.bytes);
  }
  void add_part(GradientId id, MicroBatch const&) {
    at(m_station).sums_go[m_shape.places(id.chunk).gradients] += m_shape.gradient(id).bytes;
  }
  // What others send of it; on the host, activations have left as much room by then.
  void reduce(GradientId id, MicroBatch const&) {
    if (id.part < 0 && m_shape.places(id.chunk).gradients == Tier::device)
      hold(Tier::device, m_station + 1, m_shape.chunk(id.chunk).gradient.bytes);
  }
  void begin_update() {
    enter(update_station());
    if (m_plan.redo) hold_slots();
  }
  void end_update() { leave_station(); }

 private:
  struct Station {
    TierBytes goes{}, sums_go{};      // after its pass
    TierBytes late_goes{};            // after its begin, in the first micro-batch
    std::int64_t reserves_bytes = 0;  // from its begin on, beside what is kept; less, if < 0
  };

  std::size_t policy_of(int block) const { return index(m_plan.blocks[block].policy); }
  int backward_station(int block) const { return 2 * m_shape.blocks() - 1 - block; }
  int update_station() const { return 2 * m_shape.blocks(); }
  Station& at(int station) { return m_stations[station]; }
  // From this station's pass to that one's.
  void hold(Tier tier, int last, std::int64_t bytes) {
    if (last < m_station) return;
    m_comes[tier] += bytes;
    at(last).goes[tier] += bytes;
  }

  // In a device's only micro-batch a gradient is written where the step's lies.
  bool is_the_steps_own(ChunkCost const& chunk, ChunkPlan const& places) const {
    bool const whole = chunk.held_gradient_bytes == chunk.gradient.bytes;
    return places.gradients == Tier::device && !m_several && whole;
  }
  int used_until(ChunkCost const& chunk, ChunkPlan const& places) const {
    bool const exchanges =
        chunk.gradient.scatter_sent_bytes > 0 && places.gradients == Tier::device;
    int const beside = groups_until_updated(exchanges) + kGroupsBeside;
    int const complete = backward_station(chunk.first_block);
    return m_plan.redo ? update_station() : std::min(complete + beside, update_station());
  }
  // With its first contribution a chunk's gradient is there, until it has joined the step's where
  // that lies; a copy is expected to be done by the end of the next block. In one micro-batch a
  // part is there while it is made; over several its sum is, until the last one adds it.
  void make_gradient(int c, int b) {
    auto const& chunk = m_shape.chunk(c);
    auto const& places = m_shape.places(c);
    if (!chunk.trainable) return;
    for (PartCost const& part : chunk.parts) {
      if (part.block == b && (m_several || !part.fused)) hold(Tier::device, m_station, part.bytes);
    }
    if (chunk.last_block != b) return;
    int const own = backward_station(m_several ? chunk.own_block : chunk.first_block);
    int const gone_by = std::min(own + 1, backward_station(0));
    if (is_the_steps_own(chunk, places)) {
      hold(Tier::device, used_until(chunk, places), chunk.held_gradient_bytes);
    } else {
      hold(Tier::device, places.gradients == Tier::host ? gone_by : own, chunk.gradient.bytes);
    }
  }
  void hold_sums() {
    for (int const c : m_shape.chunks()) {
      auto& sums = m_sums[m_shape.places(c).gradients];
      sums += m_shape.chunk(c).held_gradient_bytes;
      for (PartCost const& part : m_shape.chunk(c).parts) sums += part.bytes;
    }
  }
  void hold_slots() {
    hold(Tier::device, update_station(), m_slots[Tier::device]);
    hold(m_plan.unified ? Tier::device : Tier::host, update_station(), m_slots[Tier::host]);
  }

  // What the host lane has at the end of a step it may still have beside the next one's forward
  // pass, until what it changes is read: at the begin of this station. -1: not even then.
  int held_until(ChunkCost const& chunk, ChunkPlan const& places) const {
    if (!m_plan.redo || places.update != Tier::host) return -1;
    bool const comes = places.parameters != Tier::device;
    return comes ? fetched_at(-1, chunk.first_block, m_plan.prefetch) : chunk.first_block;
  }
  void hold_late(Tier tier, int station, std::int64_t bytes) {
    if (station < 0) return;
    m_late[tier] += bytes;
    at(station).late_goes[tier] += bytes;
  }
  void hold_what_late_updates_do() {
    auto const& chunks = m_model.chunks;
    for (std::size_t c = 0; c < chunks.size(); ++c) {
      auto const& places = m_plan.chunks[c];
      if (!chunks[c].trainable) continue;
      int const until = held_until(chunks[c], places);
      bool const own = is_the_steps_own(chunks[c], places);
      hold_late(places.gradients, until, chunks[c].held_gradient_bytes);
      if (own) reserve_place_as_layout_does(chunks[c], until);
    }
    // Of slots the last slices' are in use for longest.
    auto const host = m_plan.unified ? Tier::device : Tier::host;
    auto const bytes = m_slots[Tier::host];
    std::int64_t left = bytes > 0 ? kUpdateSlots : 0;
    for (std::size_t c = chunks.size(); c-- > 0 && left > 0;) {
      if (brought(chunks[c], m_plan.chunks[c], m_plan.unified).all_bytes() == 0) continue;
      auto const slices = div_ceil(chunks[c].elements, slice_elements(chunks[c], m_plan));
      auto const used = std::min(left, slices);
      hold_late(host, held_until(chunks[c], m_plan.chunks[c]), used * bytes / kUpdateSlots);
      left -= used;
    }
  }
  // A gradient that is kept in its place from the backward pass to the next forward one: in between
  // that place is of no use to activations that are kept, since they are still there when the
  // gradient comes again.
  void reserve_place_as_layout_does(ChunkCost const& chunk, int held_until) {
    if (held_until >= chunk.last_block) return;
    at(held_until + 1).reserves_bytes += chunk.gradient.bytes;
    at(chunk.last_block + 1).reserves_bytes -= chunk.gradient.bytes;
  }

  // Two moments count: a station's begin, when there is none of its own bytes yet but still what a
  // late update of the step before holds; and its pass.
  void leave_station() {
    if (m_station < 0) return;
    Station const& now = at(m_station);
    m_reserved_bytes += now.reserves_bytes;
    m_at_begin[Tier::device] += m_first_fetched_bytes + m_reserved_bytes;
    note(m_at_begin);
    m_late -= now.late_goes;
    m_always += m_comes;
    note({});
    m_result.on_device.push_back(alive(index(Tier::device)));
    m_always -= now.goes;
    m_sums -= now.sums_go;
  }
  std::int64_t alive(std::size_t tier) const {
    return m_always[tier] + std::max(m_late[tier], m_sums[tier]);
  }
  void note(TierBytes const& more) {
    for (std::size_t tier = 0; tier < kTiers; ++tier)
      m_result.most[tier] = std::max(m_result.most[tier], alive(tier) + more[tier]);
  }

  BlockModel const& m_model;
  Plan const& m_plan;
  BlockShape const& m_shape;
  bool m_several;
  TierBytes m_slots;
  std::vector<Station> m_stations;
  StationBytes m_result;
  TierBytes m_always{}, m_late{},
      m_sums{};                   // alive now: in all micro-batches, the first, the others
  std::int64_t m_kept_bytes = 0;  // activations, by the blocks before
  std::int64_t m_leaving_bytes = 0, m_reserved_bytes = 0;
  int m_station = -1;
  TierBytes m_comes{}, m_at_begin{};       // for its pass; at its begin, beside what stays
  std::int64_t m_first_fetched_bytes = 0;  // others come when its begin has let go of some
};

}  // namespace

StationBytes station_bytes(BlockModel const& model, Plan const& plan, bool several) {
  BlockShape const shape(model, plan, several, Grain::whole);
  Ledger ledger(model, plan, shape, several);
  constexpr bool late = true;  // when updates run is the ledger's own knowledge
  StepTelling step(shape, late, ledger);
  step.begin_step();
  step.micro_batch({"", !several, true});
  step.update();
  return ledger.take();
}

}  // namespace spillway
