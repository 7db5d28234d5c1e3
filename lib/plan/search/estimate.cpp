#include "plan/search/estimate.hpp"

#include "plan/search/estimate_bytes.hpp"
#include "plan/search/estimate_step.hpp"
#include "plan/search/plan_costs.hpp"

namespace spillway {

namespace {

// What chunks hold for the whole step.
TierBytes state_bytes(BlockModel const& model, Plan const& plan) {
  TierBytes bytes{};
  for (std::size_t c = 0; c < model.chunks.size(); ++c) {
    bytes[index(plan.chunks[c].parameters)] += model.chunks[c].home_bytes;
    bytes[index(plan.chunks[c].optimizer)] += model.chunks[c].optimizer_bytes;
  }
  return bytes;
}

}  // namespace

Estimator::Estimator(BlockModel const& model, Machine const& machine, std::int64_t micro_batches)
    : m_model(model), m_machine(machine), m_micro_batches(micro_batches) {}

TierBytes Estimator::peaks(Plan const& plan) const {
  bool const accumulates = m_micro_batches > 1;
  auto peaks = state_bytes(m_model, plan);
  auto const walked = station_bytes(m_model, plan, accumulates).most;
  for (std::size_t tier = 0; tier < kTiers; ++tier) peaks[tier] += walked[tier];
  for (std::size_t b = 0; b < m_model.blocks.size(); ++b) {
    if (auto const tier = away_tier(plan.blocks[b].policy))
      peaks[index(*tier)] += away_bytes(m_model, plan, b);
  }
  return peaks;
}

double Estimator::step_s(Plan const& plan) const {
  StepEstimate const step(m_model, m_machine, plan, m_micro_batches > 1);
  if (m_micro_batches <= 2) return step.seconds(static_cast<int>(m_micro_batches));
  double const one = step.seconds(1), two = step.seconds(2);
  return two + static_cast<double>(m_micro_batches - 2) * (two - one);
}

double Estimator::bound_s(Plan const& plan) const {
  return step_bound_s(m_model, m_machine, plan, static_cast<double>(m_micro_batches));
}

LaneBytes Estimator::moved_bytes(Plan const& plan) const {
  return spillway::moved_bytes(m_model, plan, m_micro_batches);
}

}  // namespace spillway
