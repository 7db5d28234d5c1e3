#include "plan/search/step_bound.hpp"

#include <algorithm>

#include "plan/schedule/streaming.hpp"
#include "plan/search/plan_costs.hpp"

namespace spillway {

namespace {

// Seconds of lanes, and of what they share, without waits.
class StepBound {
 public:
  explicit StepBound(Machine const& machine)
      : m_machine(machine), m_capacity(capacities(machine)) {}

  void add(Lane lane, ItemCost const& cost, double times) {
    m_busy_s[index(lane)] += times * cost.seconds;
    for (std::size_t r = 0; r < kResources; ++r)
      m_asked[r] += times * cost.seconds * std::min(cost.demand[r], m_capacity[r]);
  }
  void move(Tier from, Tier to, std::int64_t bytes, double times) {
    if (bytes == 0 || from == to) return;
    auto const lane = copy_lane(from, to);
    add(lane, copy_cost(bytes, m_machine, lane), times);
  }

  double seconds() const {
    double bound_s = *std::ranges::max_element(m_busy_s);
    for (std::size_t r = 0; r < kResources; ++r)
      bound_s = std::max(bound_s, m_asked[r] / m_capacity[r]);
    return bound_s;
  }

 private:
  Machine const& m_machine;
  Shares m_capacity, m_asked{};
  std::array<double, kLanes> m_busy_s{};
};

// Bytes of lanes.
class Moved {
 public:
  void add(Lane, ItemCost const&, double) {}
  void move(Tier from, Tier to, std::int64_t bytes, double times) {
    if (from != to) m_bytes[index(copy_lane(from, to))] += static_cast<std::int64_t>(times) * bytes;
  }
  LaneBytes const& bytes() const { return m_bytes; }

 private:
  LaneBytes m_bytes{};
};

template <class Sum>
void add_activations(Sum& sum, BlockModel const& model, Plan const& plan, double micro_batches) {
  for (std::size_t b = 0; b < model.blocks.size(); ++b) {
    auto const policy = plan.blocks[b].policy;
    sum.add(Lane::compute, model.blocks[b].forward, micro_batches);
    sum.add(Lane::compute, model.blocks[b].policies[index(policy)].backward, micro_batches);
    if (auto const tier = away_tier(policy)) {
      auto const bytes = away_bytes(model, plan, b);
      sum.move(Tier::device, *tier, bytes, micro_batches);
      sum.move(*tier, Tier::device, bytes, micro_batches);
    }
  }
}

// Of a chunk's parameters, by a micro-batch.
int fetches(ChunkCost const& chunk, int prefetch) {
  int count = 0;
  for_each_visit(chunk.readers, prefetch, [&](Visit) { ++count; });
  return count;
}

template <class Sum>
void add_state(Sum& sum, BlockModel const& model, Plan const& plan, double micro_batches) {
  for (std::size_t c = 0; c < model.chunks.size(); ++c) {
    auto const& places = plan.chunks[c];
    auto const& chunk = model.chunks[c];
    bool const host = places.update == Tier::host;
    sum.add(host ? Lane::host : Lane::compute, host ? chunk.host_update : chunk.update, 1);
    auto const needs = brought(chunk, places, plan.unified);
    for (Tier const tier : kTiersInOrder) {
      sum.move(tier, needs.workplace, needs.bytes[index(tier)], 1);
      sum.move(needs.workplace, tier, needs.back_bytes[index(tier)], 1);
    }
    sum.move(places.parameters, Tier::device, chunk.home_bytes,
             micro_batches * fetches(chunk, plan.prefetch));
    sum.move(Tier::device, places.gradients, chunk.gradient_bytes,
             plan.unified ? 1 : micro_batches);
  }
}

}  // namespace

double step_bound_s(BlockModel const& model, Machine const& machine, Plan const& plan,
                    double micro_batches) {
  StepBound bound(machine);
  add_activations(bound, model, plan, micro_batches);
  add_state(bound, model, plan, micro_batches);
  return bound.seconds();
}

LaneBytes moved_bytes(BlockModel const& model, Plan const& plan, std::int64_t micro_batches) {
  Moved moved;
  add_activations(moved, model, plan, static_cast<double>(micro_batches));
  add_state(moved, model, plan, static_cast<double>(micro_batches));
  return moved.bytes();
}

std::int64_t between_tiers(LaneBytes const& bytes) {
  std::int64_t all = 0;
  for (Lane const lane : {Lane::nvme_write, Lane::nvme_read, Lane::h2d, Lane::d2h})
    all += bytes[index(lane)];
  return all;
}

}  // namespace spillway
