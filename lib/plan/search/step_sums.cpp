#include <algorithm>
#include <utility>

#include "base/math.hpp"
#include "plan/data/reach.hpp"
#include "plan/search/block_shape.hpp"
#include "plan/search/estimate.hpp"

namespace spillway {

namespace {

// A SumSink is a Sink (see tell_step.hpp) that adds up the costs of passes, updates and moves. It
// leaves out norms, sums of gradients and messages, so that no sum is more than a step takes.
class SumSink : public StepSink {
 public:
  SumSink(Machine const& machine, BlockShape const& shape)
      : m_machine(machine), m_capacity(capacities(machine)), m_shape(shape) {}

  // Counts every later event as `times` events, but what micro-batches that walk together share as
  // `shared` ones.
  void set_times(std::int64_t times, std::int64_t shared) {
    m_times = times;
    m_shared = shared;
  }

  void forward(Station const& at, int) { add(Lane::compute, m_shape.block(at.block).forward); }
  void backward(Station const& at, int) {
    add(Lane::compute, m_shape.policy_cost(at.block).backward);
  }
  void leave(Station const&, AwayPart const& part) { move(Tier::device, part.to, part.bytes); }
  void reload(Station const&, AwayPart const& part, int) {
    move(part.to, Tier::device, part.bytes);
  }
  void fetch(int c, Station const&) {
    count_as(m_shared, [&] {
      if (m_shape.chunk(c).fetch_sent_bytes > 0)
        gather(c, Tier::device);
      else
        move(m_shape.places(c).parameters, Tier::device, m_shape.chunk(c).home_bytes);
    });
  }
  void bring_sum_to_visit(int c, Station const&) {
    count_as(m_shared, [&] {
      move(m_shape.places(c).gradients, Tier::device, m_shape.chunk(c).gradient.bytes);
    });
  }
  void take_sum_home(int c, Station const& at) {
    auto const home = m_shape.places(c).gradients;
    auto const bytes = m_shape.chunk(c).gradient.bytes;
    bool const is_reduced = m_shape.goes_home_reduced(c, at.batch);
    count_as(m_shared - (is_reduced ? 1 : 0), [&] { move(Tier::device, home, bytes); });
    if (!is_reduced) return;
    count_as(1, [&] { move(m_shape.whole_in(c), home, bytes / m_shape.chunk(c).sharing.sharers); });
  }
  void collect(GradientId id, Station const& at) {
    if (m_shape.sums_visit(id.chunk)) return;
    if (!at.batch.first && m_shape.plan().unified) return;
    move(Tier::device, m_shape.places(id.chunk).gradients, m_shape.gradient(id).bytes);
  }
  void reduce(GradientId id, MicroBatch const&) {
    if (!m_shape.leaves_for_exchange(id.chunk)) return;
    auto const bytes = m_shape.gradient(id).bytes;
    count_as(m_shape.reduces_each(id.chunk) ? m_times : 1, [&] {
      move(Tier::device, Tier::host, bytes);
      if (m_shape.sums_on_drive(id.chunk)) return;
      move(Tier::host, Tier::device, bytes / m_shape.chunk(id.chunk).sharing.sharers);
    });
  }
  void updated(int c) {
    auto const& update = m_shape.update(c);
    add(update.lane, m_shape.chunk(c).update.on(update.lane));
    for (Tier const tier : kTiersInOrder) {
      move(tier, update.workplace, update.brought_bytes[tier]);
      move(update.workplace, tier, update.back_bytes[tier]);
    }
    if (m_shape.chunk(c).update_sent_bytes > 0) gather(c, m_shape.places(c).parameters);
  }

  StepSums result() {
    for (std::size_t r = 0; r < kResources; ++r) m_sums.asked_s[r] /= m_capacity[r];
    return m_sums;
  }

 private:
  // Counts what `events` adds as so many events.
  void count_as(std::int64_t times, auto const& events) {
    auto const before = std::exchange(m_times, times);
    events();
    m_times = before;
  }
  // Counts what is copied when ranks gather the chunk's parameters in tier `to`.
  void gather(int c, Tier to) {
    move(m_shape.slice_tier(c), m_shape.exchanged_in(m_shape.slice_tier(c)),
         m_shape.slice_bytes(c));
    move(m_shape.exchanged_in(to), to, m_shape.chunk(c).parameter_bytes);
  }
  void add(Lane lane, ItemCost const& cost) {
    auto const seconds = static_cast<double>(m_times) * cost.seconds;
    m_sums.busy_s[lane] += seconds;
    for (std::size_t r = 0; r < kResources; ++r)
      m_sums.asked_s[r] += seconds * std::min(cost.demand[r], m_capacity[r]);
  }
  void move(Tier from, Tier to, std::int64_t bytes) {
    if (bytes == 0 || from == to) return;
    auto const stop = first_stop(from, to, m_shape.plan().unified);
    auto const lane = copy_lane(from, stop);
    m_sums.moved_bytes[lane] += m_times * bytes;
    add(lane, copy_cost(bytes, m_machine, lane));
    move(stop, to, bytes);
  }

  Machine const& m_machine;
  Shares m_capacity;
  BlockShape const& m_shape;
  StepSums m_sums;
  std::int64_t m_times = 1, m_shared = 1;
};

}  // namespace

double StepSums::bound_s() const {
  return std::max(std::ranges::max(busy_s), std::ranges::max(asked_s));
}

// Tells all updates after the last micro-batch, even if they run earlier. An update in a
// micro-batch would be counted as often as that micro-batch.
StepSums Estimator::sums(Plan const& plan) const {
  bool const several = m_micro_batches > 1;
  BlockShape const shape(m_model, plan, several, Grain::whole);
  SumSink sink(m_machine, shape);
  constexpr bool late = true;
  StepTelling step(shape, late, sink);
  step.begin_step();
  step.micro_batches({"", 1, true, !several});
  if (several) {
    sink.set_times(m_micro_batches - 1, div_ceil(m_micro_batches, group(plan)) - 1);
    step.micro_batches({"", 1, false, true});
    sink.set_times(1, 1);
  }
  step.update();
  return sink.result();
}

StepSums Estimator::passes(Plan const& plan) const {
  BlockShape const shape(m_model, plan, m_micro_batches > 1, Grain::whole);
  SumSink sink(m_machine, shape);
  sink.set_times(m_micro_batches, m_micro_batches);
  for (Station at{}; at.block < shape.blocks(); ++at.block) {
    sink.forward(at, 0);
    sink.backward(at, 0);
    shape.leaving(at.block, 0, [&](AwayPart const& part) {
      sink.leave(at, part);
      sink.reload(at, part, 0);
    });
  }
  return sink.result();
}

MovedBytes between_tiers(PerLane<std::int64_t> const& bytes) {
  auto const written = bytes[Lane::nvme_write];
  return {written, written + bytes[Lane::nvme_read] + bytes[Lane::h2d] + bytes[Lane::d2h]};
}

}  // namespace spillway
