#include "plan/search/trials.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <tuple>
#include <utility>

#include "plan/proof/derive.hpp"
#include "plan/search/needs.hpp"

namespace spillway {

namespace {

// Counts how many blocks and chunks two plans treat differently. Another prefetch, group, number of
// early updates or way to exchange counts as one.
std::ptrdiff_t distance(Plan const& a, Plan const& b) {
  auto const differing = [](auto const& x, auto const& y) {
    std::ptrdiff_t count = 0;
    for (std::size_t i = 0; i < x.size(); ++i) count += x[i] == y[i] ? 0 : 1;
    return count;
  };
  return differing(a.blocks, b.blocks) + differing(a.chunks, b.chunks) +
         (a.prefetch == b.prefetch ? 0 : 1) + (a.group == b.group ? 0 : 1) +
         (a.early == b.early ? 0 : 1) + (a.exchanges_overlap == b.exchanges_overlap ? 0 : 1);
}

// A chunk that is not trained has neither gradient nor optimizer state, and no update, so that
// nothing hangs on where the search has left them. A plan that is told of has them on the device.
void forget_what_is_not_there(Graph const& graph, Plan& plan) {
  for (Chunk const& chunk : graph.chunks)
    if (!chunk.trainable) plan.chunks[chunk.id] = {.parameters = plan.chunks[chunk.id].parameters};
}

}  // namespace

Trials::Result Trials::try_out(Candidate const& candidate) {
  ++m_solution.compiled;
  auto compiled =
      compile_without_waits(m_question.train, m_question.eval, candidate.plan,
                            m_question.micro_batches, m_question.ranks, std::move(m_spare));
  auto& train = compiled.train;
  m_last_items = items_of(train);
  m_all_items += train.items.size();
  m_items += train.items.size() / static_cast<std::size_t>(most_together(train));
  auto const peaks = limited_peaks(m_question, candidate.plan, train);
  Result result{peaks - candidate.peaks, fits(peaks, m_question.budgets)};
  auto& done = m_done.emplace_back(candidate.plan, result.off, candidate.step_s);
  Need need{candidate.plan, peaks};
  if (result.fits || !std::isinf(m_question.budgets.nvme_bytes_per_s)) {
    find_waits(train);
    auto const simulation = simulate(train, m_question.machine);
    need.nvme_bytes_per_s = forbidden_bytes_per_s(simulation, m_question.budgets);
    if (result.fits && need.nvme_bytes_per_s == 0) {
      auto const before_s = m_best_s;
      choose(candidate.plan, compiled, simulation);
      done.step_s = candidate.step_s;
      if (candidate.step_s > 0)
        m_errors.add(kind_of(candidate), simulation.step_s / candidate.step_s);
      m_fitting.push_back({candidate, simulation.step_s});
      result.leads = m_best_s < before_s || m_solution.chosen->plan == candidate.plan;
      m_spare = std::move(train);
      return result;
    }
  }
  note_need(std::move(need));
  m_spare = std::move(train);
  return result;
}

Trials::ItemsOf Trials::items_of(Program const& program) {
  ItemsOf result;
  for (Segment const& segment : program.segments) {
    auto const items = segment.last - segment.first;
    if (segment.micro_batches > 0)
      result.micro_batch = std::max<std::int64_t>(1, items / segment.micro_batches);
    else
      result.update = items;
  }
  return result;
}

// A Program has no more than three segments of micro-batches, and none has any twice.
std::int64_t Trials::most_group(std::int64_t most_items) const {
  constexpr std::int64_t segments = 3;
  auto const each = found() ? items_of(m_solution.chosen->compiled.train) : m_last_items;
  auto const told = (most_items - each.update) / each.micro_batch;
  return told >= m_question.micro_batches ? m_question.micro_batches : told / segments;
}

// Some plans with equal estimates are still tried, since a slow drive makes simulated times differ.
bool Trials::is_done(Candidate const& candidate) const {
  constexpr double shorter = 0.9999;
  int const most_alike = has_few_blocks(m_question) ? 8 : 4;
  int alike = 0;
  for (Done const& done : m_done) {
    if (done.step_s > candidate.step_s / shorter || done.plan.blocks != candidate.plan.blocks)
      continue;
    if (done.step_s <= shorter * candidate.step_s || ++alike == most_alike) return true;
  }
  return was_compiled(candidate.plan);
}

bool Trials::was_compiled(Plan const& plan) const {
  return std::ranges::count(m_done, plan, &Done::plan) > 0;
}

std::ptrdiff_t Trials::estimated_alike(double step_s) const {
  constexpr double little = 1e-6;
  return std::ranges::count_if(m_done, [&](Done const& done) {
    return std::abs(done.estimated_s - step_s) < little * step_s;
  });
}

// A plan whose estimated time was too short must not make all other plans look hopeless.
double Trials::hope_s() const {
  if (!found()) return m_best_s;
  auto const estimated_s = std::ranges::min_element(m_done, {}, &Done::step_s)->step_s;
  return std::max(estimated_s, m_best_s);
}

double Trials::expected_s(Candidate const& candidate) const {
  return candidate.step_s * m_errors.slower(kind_of(candidate));
}

TierBytes Trials::expected_off(Plan const& plan, std::size_t last) const {
  auto const done = std::span(m_done).last(std::min(last, m_done.size()));
  auto const nearest =
      std::ranges::min_element(done, {}, [&](Done const& one) { return distance(one.plan, plan); });
  return nearest == done.end() ? TierBytes{} : nearest->off;
}

// The chosen training Program was simulated, so it already has waits.
Solution Trials::finish() {
  m_spare = {};
  m_fitting.clear();
  if (found()) {
    forget_what_is_not_there(m_question.train, m_solution.chosen->plan);
    auto& compiled = m_solution.chosen->compiled;
    link(compiled.train);
    drop_implied_waits(compiled.train);
    if (compiled.eval) {
      link(*compiled.eval);
      derive_waits(*compiled.eval);
    }
    prove(compiled);
  }
  return std::move(m_solution);
}

void Trials::choose(Plan const& plan, Compiled& compiled, Simulation const& simulation) {
  auto const moved_bytes = between_tiers(simulation.bytes);
  auto& chosen = m_solution.chosen;
  m_best_s = std::min(m_best_s, simulation.step_s);
  auto const is_among_best = [&](double step_s) { return step_s <= (1 + kAlike) * m_best_s; };
  bool const keeps = chosen && is_among_best(chosen->step_s);
  if (!is_among_best(simulation.step_s) || (keeps && m_moved_bytes <= moved_bytes)) return;
  m_moved_bytes = moved_bytes;
  if (!chosen) chosen.emplace();
  std::swap(chosen->compiled, compiled);
  chosen->plan = plan;
  chosen->step_s = simulation.step_s;
}

void Trials::note_need(Need need) {
  auto const rank = [&](Need const& n) {
    return std::tuple(n.nvme_bytes_per_s > 0, all_missing_bytes(n.peak_bytes, m_question.budgets),
                      n.peak_bytes[Tier::device]);
  };
  auto& smallest = m_solution.smallest;
  if (smallest.plan.blocks.empty() || rank(need) < rank(smallest)) smallest = std::move(need);
}

}  // namespace spillway
