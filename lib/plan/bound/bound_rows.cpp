#include "plan/bound/bound_rows.hpp"

#include <algorithm>

namespace spillway {

namespace {

constexpr int kRunsOfLayers = 4;

// Layers are cut into a few runs, every other block is a run by itself.
std::vector<Cut> cuts(Graph const& graph) {
  int layers = 0, passed = 0;
  for (Block const& block : graph.blocks) layers += block.layer ? 1 : 0;
  std::vector<Cut> result;
  for (int b = 0; Block const& block : graph.blocks) {
    passed += block.layer ? 1 : 0;
    int const runs = std::min(kRunsOfLayers, layers);
    bool const inside = block.layer && passed * runs % layers >= runs;
    if (!inside) result.push_back({b});
    ++b;
  }
  return result;
}

}  // namespace

BoundRows::BoundRows(BoundQuestion const& question, StepWork const& work)
    : m_question(question), m_work(work), m_cuts(cuts(question.train)) {
  m_backward_s = m_problem.add_variable(1, CoverProblem::kNoMost);
  if (question.norm_is_awaited) m_update_s = m_problem.add_variable(1, CoverProblem::kNoMost);
  auto const times = static_cast<double>(question.micro_batches);
  for (PassWork const& block : work.blocks) {
    need(forward_time(), block.forward);
    need(When::anytime, (times - 1) * block.forward);
    need(When::backward, times * block.backward);
  }
  need(forward_time(), work.before_turn);
  need(When::anytime, (times - 1) * work.before_turn);
  need(When::anytime, times * work.at_turn);
  need(When::backward, times * work.after_turn);
}

void BoundRows::cover(std::vector<int> const& covering, double least, int covered) {
  int const row = m_problem.add_row(least);
  for (int const variable : covering) m_problem.add(row, variable, 1);
  if (covered >= 0) m_problem.add(row, covered, -1);
}

int BoundRows::cut_of(int block) const {
  auto const found = std::ranges::lower_bound(m_cuts, block, {}, &Cut::last_block);
  return static_cast<int>(found - m_cuts.begin());
}

// Returns how long the compute lane needs for the passes behind a cut that lie between the work of
// such a row and the end of the time that the row is about.
double BoundRows::passes_s(Row kind, int cut) const {
  auto const lane = index(Lane::compute);
  auto const times = static_cast<double>(m_question.micro_batches);
  double forward_s = 0, backward_s = m_work.after_turn[lane], all_backward_s = backward_s;
  int const last = m_cuts[static_cast<std::size_t>(cut)].last_block;
  for (int b = 0; b < std::ssize(m_work.blocks); ++b) {
    auto const& block = m_work.blocks[static_cast<std::size_t>(b)];
    all_backward_s += block.backward[lane];
    if (b <= last) continue;
    forward_s += block.forward[lane];
    backward_s += block.backward[lane];
  }
  double const before_s = m_work.before_turn[lane], turn_s = m_work.at_turn[lane];
  bool const turns_behind = last <= m_work.last_layer;
  double const head_s = turns_behind ? before_s : 0;
  if (kind == Row::cut_update) return forward_s + head_s;
  if (kind == Row::cut_backward) return times * (turns_behind ? backward_s : 0);
  if (!turns_behind) return m_question.norm_is_awaited ? times * all_backward_s : 0;
  auto const passes = m_question.norm_is_awaited ? all_backward_s : backward_s;
  return times * (forward_s + head_s + turn_s + passes);
}

int BoundRows::row(Row kind, std::size_t part, int cut) {
  auto const [found, is_new] = m_rows.try_emplace({kind, cut, part}, -1);
  if (!is_new) return found->second;
  int const row = found->second = m_problem.add_row(cut < 0 ? 0 : passes_s(kind, cut));
  bool const has_update = kind != Row::backward && kind != Row::cut_backward;
  bool const has_backward = kind != Row::update && kind != Row::cut_update;
  if (has_backward || m_update_s < 0) m_problem.add(row, m_backward_s, 1);
  if (has_update && m_update_s >= 0) m_problem.add(row, m_update_s, 1);
  return row;
}

void BoundRows::charge(Row kind, int variable, Busy const& busy, int cut) {
  for (std::size_t part = 0; part < kBusyParts; ++part) {
    if (busy[part] <= 0) continue;
    if (variable >= 0)
      m_problem.add(row(kind, part, cut), variable, -busy[part]);
    else
      m_problem.raise(row(kind, part, cut), busy[part]);
  }
}

// Passes behind the cut and such work of chunks up to it follow each other, on whatever lanes.
void BoundRows::charge_cuts(Row kind, int variable, Busy const& busy, int block) {
  Busy beside = busy;
  beside[index(Lane::compute)] = 0;
  for (std::size_t r = 0; r < kResources; ++r) beside[kLanes + r] = 0;
  for (int cut = cut_of(block); cut < std::ssize(m_cuts); ++cut)
    charge(kind, variable, beside, cut);
}

void BoundRows::spend(int variable, When when, Busy const& busy, int block) {
  charge(Row::step, variable, busy);
  bool const updates = when == When::update || when == When::store;
  bool const late = when == When::backward || when == When::gradient;
  if (m_update_s < 0) {
    if (when == When::update || when == When::gradient)
      charge_cuts(Row::cut_step, variable, busy, block);
    return;
  }
  if (updates) charge(Row::update, variable, busy);
  if (late) charge(Row::backward, variable, busy);
  if (when == When::update) {
    charge_cuts(Row::cut_update, variable, busy, block);
    if (m_question.micro_batches > 1) charge_cuts(Row::cut_step, variable, busy, block);
  }
  if (when == When::gradient) charge_cuts(Row::cut_backward, variable, busy, block);
}

void BoundRows::need(When when, Busy const& busy) {
  charge(Row::step, -1, busy);
  if (m_update_s < 0) return;
  if (when == When::update) charge(Row::update, -1, busy);
  if (when == When::backward) charge(Row::backward, -1, busy);
}

void BoundRows::hold(int variable, Moment moment, Tier tier, double bytes) {
  auto room = static_cast<double>(m_question.budgets.*budget_of(tier));
  if (bytes <= 0 || room <= 0) return;
  auto const [found, is_new] = m_rooms.try_emplace({moment, tier}, -1);
  bool const at_turn = moment == Moment::turn && tier == Tier::device;
  auto const taken = at_turn ? static_cast<double>(m_work.turn_bytes) / room : 0;
  if (is_new) found->second = m_problem.add_row(taken - 1);
  m_problem.add(found->second, variable, -bytes / room);
}

BoundRows::Answer BoundRows::solve() const {
  auto const proof = m_problem.solve();
  Answer answer{.bound_s = proof.bound};
  auto const weight = [&](int row) { return proof.weights[static_cast<std::size_t>(row)]; };
  for (auto const& [key, row] : m_rows) answer.parts[std::get<2>(key)] += weight(row);
  for (auto const& [key, row] : m_rooms)
    answer.full[key.second] |= weight(row) > 1e-6 * proof.bound;
  return answer;
}

}  // namespace spillway
