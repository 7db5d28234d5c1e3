#include "plan/search/step_sums.hpp"

#include <algorithm>

#include "plan/schedule/reach.hpp"
#include "plan/search/block_shape.hpp"

namespace spillway {

namespace {

// A Sink of tell_step.hpp that adds up what passes, updates and moves ask for; of norms, sums of
// gradients and messages it knows nothing, so that what it says is less than a step takes.
class SumSink : public StepSink {
 public:
  SumSink(BlockModel const& model, Machine const& machine, Plan const& plan,
          BlockShape const& shape)
      : m_model(model),
        m_machine(machine),
        m_capacity(capacities(machine)),
        m_plan(plan),
        m_shape(shape) {}

  // What is told next happens so often.
  void set_times(std::int64_t times) { m_times = times; }

  void forward(Station const& at, int) { add(Lane::compute, m_model.blocks[at.block].forward); }
  void backward(Station const& at, int) {
    auto const policy = m_plan.blocks[at.block].policy;
    add(Lane::compute, m_model.blocks[at.block].policies[policy].backward);
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
    auto const& costs = m_shape.chunk(c).update;
    bool const host = places.update == Tier::host;
    add(host ? Lane::host : Lane::compute, host ? costs.host : costs.compute);
    auto const needs = brought(m_shape.chunk(c), places, m_plan.unified);
    for (Tier const tier : kTiersInOrder) {
      move(tier, needs.workplace, needs.bytes[tier]);
      move(needs.workplace, tier, needs.back_bytes[tier]);
    }
  }

  StepSums result() {
    for (std::size_t r = 0; r < kResources; ++r) m_sums.asked_s[r] /= m_capacity[r];
    return m_sums;
  }

 private:
  Tier away(AwayPart const& part) const { return *away_tier(m_plan.blocks[part.block].policy); }
  void add(Lane lane, ItemCost const& cost) {
    auto const seconds = static_cast<double>(m_times) * cost.seconds;
    m_sums.busy_s[lane] += seconds;
    for (std::size_t r = 0; r < kResources; ++r)
      m_sums.asked_s[r] += seconds * std::min(cost.demand[r], m_capacity[r]);
  }
  void move(Tier from, Tier to, std::int64_t bytes) {
    if (bytes == 0 || from == to) return;
    bool const staged = is_staged(from, to, m_plan.unified);
    copy(copy_lane(from, staged ? Tier::host : to), bytes);
    if (staged) copy(copy_lane(Tier::host, to), bytes);
  }
  void copy(Lane lane, std::int64_t bytes) {
    m_sums.moved_bytes[lane] += m_times * bytes;
    add(lane, copy_cost(bytes, m_machine, lane));
  }

  BlockModel const& m_model;
  Machine const& m_machine;
  Shares m_capacity;
  Plan const& m_plan;
  BlockShape const& m_shape;
  StepSums m_sums;
  std::int64_t m_times = 1;
};

}  // namespace

double StepSums::bound_s() const {
  return std::max(*std::ranges::max_element(busy_s), *std::ranges::max_element(asked_s));
}

// Told as a step whose updates are late: early ones are as much work, and would be told with a
// micro-batch that stands for many.
StepSums step_sums(BlockModel const& model, Machine const& machine, Plan const& plan,
                   std::int64_t micro_batches) {
  bool const several = micro_batches > 1;
  BlockShape const shape(model, plan, several, Grain::whole);
  SumSink sink(model, machine, plan, shape);
  constexpr bool late = true;
  StepTelling step(shape, late, sink);
  step.begin_step();
  step.micro_batch({"", true, !several});
  if (several) {
    sink.set_times(micro_batches - 1);
    step.micro_batch({"", false, true});
    sink.set_times(1);
  }
  step.update();
  return sink.result();
}

std::int64_t between_tiers(LaneBytes const& bytes) {
  return bytes[Lane::nvme_write] + bytes[Lane::nvme_read] + bytes[Lane::h2d] + bytes[Lane::d2h];
}

}  // namespace spillway
