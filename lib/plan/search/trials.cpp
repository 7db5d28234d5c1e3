#include "plan/search/trials.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include "plan/proof/derive.hpp"
#include "plan/time/simulate.hpp"

namespace spillway {

namespace {

// In how many places they differ.
std::ptrdiff_t distance(Plan const& a, Plan const& b) {
  auto const differing = [](auto const& x, auto const& y) {
    std::ptrdiff_t count = 0;
    for (std::size_t i = 0; i < x.size(); ++i) count += x[i] == y[i] ? 0 : 1;
    return count;
  };
  return differing(a.blocks, b.blocks) + differing(a.chunks, b.chunks) +
         (a.prefetch == b.prefetch ? 0 : 1);
}

}  // namespace

Trials::Result Trials::try_out(Candidate const& candidate) {
  auto compiled = placed(candidate.plan);
  m_items += compiled.train.items.size();
  auto const peaks = compiled.train.peak_bytes;
  auto const off = peaks - candidate.peaks;
  m_done.push_back({candidate.plan, off});
  if (!fits(peaks, m_job.budgets)) {
    note_need(candidate.plan, compiled);
    return {off};
  }
  auto const before_s = m_best_s;
  if (!consider(candidate.plan, std::move(compiled))) return {off, true};
  m_estimated_s = std::min(m_estimated_s, candidate.step_s);
  m_fitting.push_back(candidate);
  return {off, true, m_best_s < before_s || m_solution.choice->plan == candidate.plan};
}

// Where the drive sets the pace estimates of many are the same, but not what they take.
bool Trials::is_done(Candidate const& candidate) const {
  constexpr double shorter = 0.9999;
  auto const stands_for_it = [&](Candidate const& other) {
    bool const is_shorter = other.step_s <= shorter * candidate.step_s;
    return is_shorter && other.plan.blocks == candidate.plan.blocks;
  };
  return std::ranges::any_of(m_fitting, stands_for_it) || was_compiled(candidate.plan);
}

bool Trials::was_compiled(Plan const& plan) const {
  return std::ranges::count(m_done, plan, &Done::plan) > 0;
}

// What was estimated too short must not hide what was not.
bool Trials::is_hopeless(Candidate const& candidate) const {
  return found() && candidate.step_s > kHopeless * std::max(m_estimated_s, m_best_s);
}

TierBytes Trials::expected_off(Plan const& plan) const {
  auto const nearest = std::ranges::min_element(
      m_done, {}, [&](Done const& done) { return distance(done.plan, plan); });
  return nearest == m_done.end() ? TierBytes{} : nearest->off;
}

// The choice's training Program has been simulated, so its waits are there.
Solution Trials::finish() {
  if (found()) {
    auto& compiled = m_solution.choice->compiled;
    if (compiled.eval) derive_waits(*compiled.eval);
    prove(compiled);
  }
  return std::move(m_solution);
}

Compiled Trials::placed(Plan const& plan) {
  ++m_solution.compiled;
  return compile_without_waits(m_job.train, m_job.eval, plan, m_job.micro_batches, m_job.ranks);
}

Simulation Trials::simulated(Program& program) const {
  derive_waits(program);
  return simulate(program, m_job.machine);
}

// What is written to the drive, if that is too much.
double Trials::excess_bytes_per_s(Simulation const& simulation) const {
  auto const written = static_cast<double>(simulation.bytes[Lane::nvme_write]);
  double const rate = written > 0 ? written / simulation.step_s : 0;
  return rate > m_job.budgets.nvme_bytes_per_s ? rate : 0;
}

// False: it writes too much to the drive.
bool Trials::consider(Plan const& plan, Compiled compiled) {
  auto const simulation = simulated(compiled.train);
  auto const excess = excess_bytes_per_s(simulation);
  if (excess > 0)
    note_need({plan, compiled.train.peak_bytes, excess});
  else
    choose(plan, std::move(compiled), simulation);
  return excess == 0;
}

void Trials::choose(Plan const& plan, Compiled compiled, Simulation const& simulation) {
  auto const moved = between_tiers(simulation.bytes);
  auto& choice = m_solution.choice;
  m_best_s = std::min(m_best_s, simulation.step_s);
  auto const is_among_best = [&](double step_s) { return step_s <= (1 + kAlike) * m_best_s; };
  bool const keeps = choice && is_among_best(choice->step_s);
  if (!is_among_best(simulation.step_s) || (keeps && m_moved <= moved)) return;
  m_moved = moved;
  choice = {plan, std::move(compiled), simulation.step_s};
}

// Of a Plan that does not fit, and is simulated only where that matters.
void Trials::note_need(Plan const& plan, Compiled& compiled) {
  bool const limited = !std::isinf(m_job.budgets.nvme_bytes_per_s);
  note_need({plan, compiled.train.peak_bytes,
             limited ? excess_bytes_per_s(simulated(compiled.train)) : 0});
}

void Trials::note_need(Need need) {
  auto const rank = [&](Need const& n) {
    return std::tuple(n.nvme_bytes_per_s > 0, all_missing_bytes(n.peak_bytes, m_job.budgets),
                      n.peak_bytes[Tier::device]);
  };
  auto& smallest = m_solution.smallest;
  if (smallest.plan.blocks.empty() || rank(need) < rank(smallest)) smallest = std::move(need);
}

}  // namespace spillway
