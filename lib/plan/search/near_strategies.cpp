#include <algorithm>

#include "plan/schedule/streaming.hpp"
#include "plan/search/strategy.hpp"

namespace spillway {

bool brings_anything_ahead(Plan const& plan) {
  auto const leaves = [](BlockPlan const& block) { return away_tier(block.policy).has_value(); };
  return std::ranges::any_of(plan.blocks, leaves) || fetches_parameters(plan);
}

std::vector<Strategy> StrategySpace::neighbours(Strategy const& strategy) const {
  std::vector<Strategy> result;
  auto near = strategy;
  if (strategy.own.empty()) {  // the mix decides only if `own` is empty
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
    near = strategy;
    near.own.clear();
    near.mix = mix;
    result.push_back(near);
  }
  add_other_layers(strategy, result);
  add_other_moves(strategy, result);
  add_other_persistent(strategy, result);
  add_other_early(strategy, result);
  if (m_open.group && gains_by_groups(plan_of(strategy))) {
    near = strategy;
    auto const all = std::min(m_open.most_group, m_estimator.micro_batches());
    for (auto const other : {strategy.group / 2, std::min(2 * strategy.group, all)}) {
      near.group = other;
      if (other > 0 && other != strategy.group) result.push_back(near);
    }
  }
  for (Strategy& other : result) find_room(other);
  if (!m_open.prefetch || strategy.prefetch == 0 || !brings_anything_ahead(plan_of(strategy)))
    return result;
  near = strategy;
  while ((near.prefetch *= 2) <= 8) result.push_back(near);
  return result;
}

void StrategySpace::add_other_persistent(Strategy const& strategy,
                                         std::vector<Strategy>& to) const {
  int const count = strategy.persistent;
  for (int const other : {count - 1, count + 1, count / 2, 2 * count}) {
    if (other < 0 || other > shared() || other == count) continue;
    to.push_back(strategy);
    to.back().persistent = other;
  }
}

void StrategySpace::add_other_early(Strategy const& strategy, std::vector<Strategy>& to) const {
  if (!may_put_off(strategy)) return;
  for (auto const early : kEarlyPercents) {
    if (early == strategy.early) continue;
    to.push_back(strategy);
    to.back().early = early;
  }
}

// Adds strategies that update on another lane, or move more, less or other state off the device.
void StrategySpace::add_other_moves(Strategy const& strategy, std::vector<Strategy>& to) const {
  auto turned = strategy;
  auto& moves = turned.moves;
  int const count = moves.count;
  if (count > 0) {
    to.push_back(strategy);
    to.back().moves.device_updates = !moves.device_updates;
  }
  for (Sums const sums : other_sums(strategy)) {
    to.push_back(strategy);
    to.back().moves.sums = sums;
  }
  if (may_begin_with_either(strategy)) {
    to.push_back(strategy);
    to.back().moves.parameters_first = !moves.parameters_first;
  }
  if (shares_host_room(strategy)) {
    to.push_back(strategy);
    to.back().moves.parameters_near = !moves.parameters_near;
  }
  int const of_first = moves.parameters_first ? parameters() : optimizers();
  bool const of_parameters = (count <= of_first) == moves.parameters_first;
  auto& from_back = of_parameters ? moves.parameters_from_back : moves.from_back;
  from_back = !from_back;
  for (int const other : {count - 1, count, count + 1}) {
    if (other < 0 || other > most_moves()) continue;
    for (bool const turns : {false, true}) {
      if (turns ? count == 0 : other == count) continue;
      to.push_back(turns ? turned : strategy);
      to.back().moves.count = other;
    }
  }
}

std::vector<BlockPlan> StrategySpace::layers_of(Strategy const& strategy) const {
  auto const plan = plan_of(strategy);
  std::vector<BlockPlan> result;
  for (int const block : m_layers) result.push_back(plan.blocks[block]);
  return result;
}

// If layers are few, adds strategies that change one layer. One layer of many would not matter.
void StrategySpace::add_other_layers(Strategy const& strategy, std::vector<Strategy>& to) const {
  constexpr int few = 8;
  if (layers() > few) return;
  auto const ways = ways_to_treat(m_open, m_budgets);
  auto near = strategy;
  near.own = layers_of(strategy);
  for (BlockPlan& layer : near.own) {
    auto const before = layer;
    for (BlockPlan const& way : ways) {
      layer = way;
      if (way != before) to.push_back(near);
    }
    layer = before;
  }
}

}  // namespace spillway
