#include "plan/search/estimate.hpp"

#include "plan/search/estimate_bytes.hpp"
#include "plan/search/step_timeline.hpp"

namespace spillway {

namespace {

// What chunks hold for the whole step.
TierBytes state_bytes(BlockModel const& model, Plan const& plan) {
  TierBytes bytes{};
  for (std::size_t c = 0; c < model.chunks.size(); ++c) {
    bytes[plan.chunks[c].parameters] += model.chunks[c].home_bytes;
    bytes[plan.chunks[c].optimizer] += model.chunks[c].optimizer_bytes;
  }
  return bytes;
}

void tell(StepTelling<BlockShape, StepTimeline>& step, int micro_batches) {
  step.begin_step();
  for (int i = 0; i < micro_batches; ++i) step.micro_batch({"", i == 0, i + 1 == micro_batches});
  step.update();
}

// Of two steps without a barrier.
double second_step_s(BlockModel const& model, Machine const& machine, Plan const& plan,
                     BlockShape const& shape, StationBytes const& bytes, int micro_batches) {
  StepTimeline jobs(model, machine, plan, shape, bytes);
  StepTelling step(shape, plan.redo, jobs);
  tell(step, micro_batches);
  auto const first = jobs.timeline().jobs();
  tell(step, micro_batches);
  auto const times = jobs.timeline().run(capacities(machine));
  double end_s[2] = {0, 0};
  for (int job = 0; job < std::ssize(times); ++job) {
    auto& end = end_s[job < first ? 0 : 1];
    end = std::max(end, times[job].end_s);
  }
  return std::max(end_s[0], end_s[1]) - end_s[0];
}

}  // namespace

Estimator::Estimator(BlockModel const& model, Machine const& machine, std::int64_t micro_batches)
    : m_model(model), m_machine(machine), m_micro_batches(micro_batches) {}

TierBytes Estimator::peaks(Plan const& plan) const {
  bool const accumulates = m_micro_batches > 1;
  auto peaks = state_bytes(m_model, plan);
  auto const walked = station_bytes(m_model, plan, accumulates).most;
  peaks += walked;
  peaks[Tier::host] += staging_bytes(m_model, plan);
  for (std::size_t b = 0; b < m_model.blocks.size(); ++b) {
    if (auto const tier = away_tier(plan.blocks[b].policy))
      peaks[*tier] += away_bytes(m_model, plan, b);
  }
  return peaks;
}

double Estimator::step_s(Plan const& plan) const {
  bool const several = m_micro_batches > 1;
  BlockShape const shape(m_model, plan, several, Grain::fine);
  auto const bytes = station_bytes(m_model, plan, several);
  auto const of = [&](int micro_batches) {
    return second_step_s(m_model, m_machine, plan, shape, bytes, micro_batches);
  };
  if (m_micro_batches <= 2) return of(static_cast<int>(m_micro_batches));
  double const one = of(1), two = of(2);
  return two + static_cast<double>(m_micro_batches - 2) * (two - one);
}

StepSums Estimator::sums(Plan const& plan) const {
  return step_sums(m_model, m_machine, plan, m_micro_batches);
}

}  // namespace spillway
