#include "plan/search/strategy.hpp"

#include <algorithm>

namespace spillway {

namespace {

bool brings_anything_ahead(Plan const& plan) {
  auto const leaves = [](BlockPlan const& block) { return away_tier(block.policy).has_value(); };
  auto const comes = [](ChunkPlan const& chunk) { return chunk.parameters != Tier::device; };
  return std::ranges::any_of(plan.blocks, leaves) || std::ranges::any_of(plan.chunks, comes);
}

}  // namespace

StrategySpace::StrategySpace(Estimator const& estimator, OpenPlan const& open,
                             Budgets const& budgets)
    : m_estimator(estimator),
      m_open(open),
      m_budgets(budgets),
      m_mover(estimator, open, m_budgets) {
  for (int b = 0; b < std::ssize(open.layers); ++b) {
    if (open.layers[b]) m_layers.push_back(b);
  }
}

Plan StrategySpace::plan_of(Strategy const& strategy) const {
  Plan plan = m_open.plan;
  plan.prefetch = strategy.prefetch;
  apply(strategy.mix, m_layers, plan);
  for (int i = 0; i < std::ssize(strategy.own); ++i) plan.blocks[m_layers[i]] = strategy.own[i];
  int const last = m_estimator.model().last_layer;  // activations of this layer always stay
  if (!m_layers.empty() && m_layers.back() == last) plan.blocks[last] = staying(plan.blocks[last]);
  m_mover.apply(strategy.moves, strategy.host_bytes, plan);
  return plan;
}

void StrategySpace::find_room(Strategy& strategy) const {
  bool const needs_room = strategy.moves.count > 0 && m_budgets.host_bytes > 0;
  strategy.host_bytes = needs_room ? m_mover.room_on_host(plan_of(strategy), strategy.moves) : 0;
}

std::vector<Strategy> StrategySpace::neighbours(Strategy const& strategy) const {
  std::vector<Strategy> result;
  auto near = strategy;
  if (strategy.own.empty()) {  // otherwise the mix decides nothing
    for (int const more : {-2, -1, 1}) {
      near.mix.layers = strategy.mix.layers + more;
      if (0 <= near.mix.layers && near.mix.layers <= layers()) result.push_back(near);
    }
    near = strategy;
    near.mix.from_back = !strategy.mix.from_back;
    result.push_back(near);
  }
  for (ActivationMix mix : activation_kinds(policies_within(m_open, m_budgets))) {
    mix.layers = std::max(1, strategy.mix.layers);
    mix.from_back = strategy.mix.from_back;
    result.push_back({mix, {}, strategy.moves, strategy.prefetch});
  }
  add_other_layers(strategy, result);
  add_other_moves(strategy, result);
  for (Strategy& other : result) find_room(other);
  if (!m_open.prefetch || strategy.prefetch == 0 || !brings_anything_ahead(plan_of(strategy)))
    return result;
  near = strategy;
  while ((near.prefetch *= 2) <= 8) result.push_back(near);
  return result;
}

// Adds strategies that update elsewhere, make one move more or fewer, or move from the other end.
void StrategySpace::add_other_moves(Strategy const& strategy, std::vector<Strategy>& to) const {
  auto turned = strategy;
  auto& moves = turned.moves;
  int const count = moves.count;
  if (count > 0) {
    to.push_back(strategy);
    to.back().moves.device_updates = !moves.device_updates;
  }
  auto& from_back = count <= m_mover.optimizers() ? moves.from_back : moves.parameters_from_back;
  from_back = !from_back;
  for (int const other : {count - 1, count, count + 1}) {
    if (other < 0 || other > m_mover.most()) continue;
    for (bool const turns : {false, true}) {
      if (turns ? count == 0 : other == count) continue;
      to.push_back(turns ? turned : strategy);
      to.back().moves.count = other;
    }
  }
}

// Treats a single layer differently if layers are few. One of many layers makes no difference.
void StrategySpace::add_other_layers(Strategy const& strategy, std::vector<Strategy>& to) const {
  constexpr int few = 8;
  if (layers() > few) return;
  auto const plan = plan_of(strategy);
  auto near = strategy;
  near.own.clear();
  for (int const block : m_layers) near.own.push_back(plan.blocks[block]);
  for (BlockPlan& layer : near.own) {
    auto const before = layer;
    for (BlockPolicy const policy : policies_within(m_open, m_budgets)) {
      for (double const fraction : {1.0, 0.5}) {
        layer = {policy, fraction};
        if (layer != before && (fraction == 1 || away_tier(policy))) to.push_back(near);
      }
    }
    layer = before;
  }
}

// Searches from a guess. The next try follows from the bytes that the last one lacks, and sometimes
// lies halfway between the limits. Parameters that move need room on the device when they return,
// so none is moved before a try has shown that moving all optimizer state does not suffice.
int StrategySpace::fewest_moves(Strategy strategy, int guess) const {
  int fails = 0, does = m_mover.most();
  for (int tries = 1; does - fails > 1; ++tries) {
    if (fails < m_mover.optimizers()) guess = std::min(guess, m_mover.optimizers());
    int const at = tries % 4 == 0 ? (fails + does) / 2 : std::clamp(guess, fails + 1, does - 1);
    strategy.moves.count = at;
    auto const bytes = peaks(strategy)[Tier::device];
    (bytes <= m_budgets.device_bytes ? does : fails) = at;
    guess = m_mover.moves_for(bytes - m_budgets.device_bytes, strategy.moves);
  }
  return does;
}

}  // namespace spillway
