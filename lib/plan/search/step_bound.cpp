#include "plan/search/step_bound.hpp"

#include <algorithm>

#include "plan/schedule/reach.hpp"
#include "plan/search/block_shape.hpp"

namespace spillway {

namespace {

// Seconds of lanes, and of what they share, without waits.
class StepBound {
 public:
  explicit StepBound(Machine const& machine)
      : m_machine(machine), m_capacity(capacities(machine)) {}

  void add(Lane lane, ItemCost const& cost, double times) {
    m_busy_s[lane] += times * cost.seconds;
    for (std::size_t r = 0; r < kResources; ++r)
      m_asked[r] += times * cost.seconds * std::min(cost.demand[r], m_capacity[r]);
  }
  void move(Tier from, Tier to, std::int64_t bytes, double times) {
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
  PerLane<double> m_busy_s{};
};

// Bytes of lanes.
class Moved {
 public:
  void add(Lane, ItemCost const&, double) {}
  void move(Tier from, Tier to, std::int64_t bytes, double times) {
    m_bytes[copy_lane(from, to)] += static_cast<std::int64_t>(times) * bytes;
  }
  LaneBytes const& bytes() const { return m_bytes; }

 private:
  LaneBytes m_bytes{};
};

// A Sink of tell_step.hpp that adds up what passes, updates and moves ask for; of norms, sums of
// gradients and messages it knows nothing, so that what it says is less than a step takes.
template <class Sum>
class SumSink : public StepSink {
 public:
  SumSink(BlockModel const& model, Plan const& plan, BlockShape const& shape, Sum& sum)
      : m_model(model), m_plan(plan), m_shape(shape), m_sum(sum) {}

  // What is told next happens so often.
  void set_times(double times) { m_times = times; }

  void forward(Station const& at, int) {
    m_sum.add(Lane::compute, block(at.block).forward, m_times);
  }
  void backward(Station const& at, int) {
    int const b = at.block;
    auto const policy = m_plan.blocks[b].policy;
    m_sum.add(Lane::compute, block(b).policies[policy].backward, m_times);
  }
  void leave(Station const&, AwayPart const& part) { move(Tier::device, away(part), part.bytes); }
  void reload(Station const&, AwayPart const& part) { move(away(part), Tier::device, part.bytes); }
  void fetch(int c, Station const&) {
    move(m_shape.places(c).parameters, Tier::device, m_shape.chunk(c).home_bytes);
  }
  void collect(GradientId id, Station const& at) {
    if (!at.batch.first && m_plan.unified) return;
    move(Tier::device, m_shape.places(id.chunk).gradients, m_shape.gradient(id).bytes);
  }
  void updated(int c) {
    auto const& places = m_shape.places(c);
    auto const& chunk = m_shape.chunk(c);
    bool const host = places.update == Tier::host;
    m_sum.add(host ? Lane::host : Lane::compute, host ? chunk.update.host : chunk.update.compute,
              1);
    auto const needs = brought(chunk, places, m_plan.unified);
    for (Tier const tier : kTiersInOrder) {
      move(tier, needs.workplace, needs.bytes[tier]);
      move(needs.workplace, tier, needs.back_bytes[tier]);
    }
  }

 private:
  BlockCost const& block(int number) const { return m_model.blocks[number]; }
  Tier away(AwayPart const& part) const { return *away_tier(m_plan.blocks[part.block].policy); }
  void move(Tier from, Tier to, std::int64_t bytes) {
    if (bytes == 0 || from == to) return;
    bool const staged = is_staged(from, to, m_plan.unified);
    m_sum.move(from, staged ? Tier::host : to, bytes, m_times);
    if (staged) m_sum.move(Tier::host, to, bytes, m_times);
  }

  BlockModel const& m_model;
  Plan const& m_plan;
  BlockShape const& m_shape;
  Sum& m_sum;
  double m_times = 1;
};

// Told as a step whose updates are late: early ones are as much work, and would be told with a
// micro-batch that stands for many.
template <class Sum>
void sum_up(Sum& sum, BlockModel const& model, Plan const& plan, std::int64_t micro_batches) {
  bool const several = micro_batches > 1;
  BlockShape const shape(model, plan, several, Grain::whole);
  SumSink sink(model, plan, shape, sum);
  constexpr bool late = true;
  StepTelling step(shape, late, sink);
  step.begin_step();
  step.micro_batch({"", true, !several});
  if (several) {
    sink.set_times(static_cast<double>(micro_batches - 1));
    step.micro_batch({"", false, true});
    sink.set_times(1);
  }
  step.update();
}

}  // namespace

double step_bound_s(BlockModel const& model, Machine const& machine, Plan const& plan,
                    std::int64_t micro_batches) {
  StepBound bound(machine);
  sum_up(bound, model, plan, micro_batches);
  return bound.seconds();
}

LaneBytes moved_bytes(BlockModel const& model, Plan const& plan, std::int64_t micro_batches) {
  Moved moved;
  sum_up(moved, model, plan, micro_batches);
  return moved.bytes();
}

std::int64_t between_tiers(LaneBytes const& bytes) {
  std::int64_t all = 0;
  for (Lane const lane : {Lane::nvme_write, Lane::nvme_read, Lane::h2d, Lane::d2h})
    all += bytes[lane];
  return all;
}

}  // namespace spillway
