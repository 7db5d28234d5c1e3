#include "plan/search/choice.hpp"

#include <algorithm>

namespace spillway {

namespace {

// Whether anything is brought back that a distance could be chosen for.
bool brings_anything(Plan const& plan) {
  auto const leaves = [](BlockPlan const& block) { return away_tier(block.policy).has_value(); };
  auto const comes = [](ChunkPlan const& chunk) { return chunk.parameters != Tier::device; };
  return std::ranges::any_of(plan.blocks, leaves) || std::ranges::any_of(plan.chunks, comes);
}

}  // namespace

ChoiceMaker::ChoiceMaker(Estimator const& estimator, OpenPlan const& open, Budgets const& budgets)
    : m_estimator(estimator),
      m_open(open),
      m_budgets(budgets),
      m_mover(estimator, open, m_budgets) {
  for (std::size_t b = 0; b < open.layers.size(); ++b) {
    if (open.layers[b]) m_layers.push_back(b);
  }
}

bool ChoiceMaker::ends_with_last_layer() const {
  return !m_layers.empty() && m_layers.back() == m_estimator.last_layer();
}

Plan ChoiceMaker::plan_of(Choice const& choice) const {
  Plan plan = m_open.plan;
  plan.prefetch = choice.prefetch;
  apply(choice.mix, m_layers, plan);
  for (std::size_t i = 0; i < choice.own.size(); ++i) plan.blocks[m_layers[i]] = choice.own[i];
  if (ends_with_last_layer()) plan.blocks[m_layers.back()] = staying(plan.blocks[m_layers.back()]);
  m_mover.apply(choice.moves, choice.host_bytes, plan);
  return plan;
}

void ChoiceMaker::find_room(Choice& choice) const {
  bool const needs_room = choice.moves.count > 0 && m_budgets.host_bytes > 0;
  choice.host_bytes = needs_room ? m_mover.room_on_host(plan_of(choice), choice.moves) : 0;
}

std::vector<Choice> ChoiceMaker::neighbours(Choice const& choice) const {
  std::vector<Choice> result;
  bool const mixes = choice.own.empty();  // else the mix decides nothing
  for (int const layers : {choice.mix.layers - 2, choice.mix.layers - 1, choice.mix.layers + 1}) {
    auto near = choice;
    near.mix.layers = layers;
    if (mixes && 0 <= layers && layers <= this->layers()) result.push_back(near);
  }
  if (mixes) {
    result.push_back(choice);
    result.back().mix.from_back = !choice.mix.from_back;
  }
  for (ActivationMix mix : activation_kinds(policies_within(m_open, m_budgets))) {
    mix.layers = std::max(1, choice.mix.layers);
    mix.from_back = choice.mix.from_back;
    result.push_back({mix, {}, choice.moves, choice.prefetch});
  }
  add_other_layers(choice, result);
  if (choice.moves.count > 0) {
    result.push_back(choice);
    result.back().moves.device_updates = !choice.moves.device_updates;
  }
  add_other_moves(choice, result);
  for (Choice& near : result) find_room(near);
  bool const fixed = !m_open.prefetch || choice.prefetch == 0 || !brings_anything(plan_of(choice));
  for (int prefetch = 2 * choice.prefetch; !fixed && prefetch <= 8; prefetch *= 2) {
    auto near = choice;
    near.prefetch = prefetch;
    result.push_back(near);
  }
  return result;
}

// One more or less, and the same from the other end.
void ChoiceMaker::add_other_moves(Choice const& choice, std::vector<Choice>& to) const {
  auto const add = [&](Choice near, int moves) {
    near.moves.count = moves;
    if (0 <= moves && moves <= m_mover.most()) to.push_back(near);
  };
  auto turned = choice;
  auto& from_back = choice.moves.count <= m_mover.optimizers() ? turned.moves.from_back
                                                               : turned.moves.parameters_from_back;
  from_back = !from_back;
  for (int const more : {-1, 0, 1}) {
    if (more != 0) add(choice, choice.moves.count + more);
    if (choice.moves.count > 0) add(turned, choice.moves.count + more);
  }
}

// Of many, one makes no difference.
void ChoiceMaker::add_other_layers(Choice const& choice, std::vector<Choice>& to) const {
  constexpr int few = 8;
  if (layers() > few) return;
  auto const plan = plan_of(choice);
  auto near = choice;
  near.own.clear();
  for (auto const block : m_layers) near.own.push_back(plan.blocks[block]);
  for (BlockPlan& layer : near.own) {
    auto const before = layer;
    for (BlockPolicy const policy : policies_within(m_open, m_budgets)) {
      for (double const fraction : {1.0, 0.5}) {
        layer = {policy, fraction};
        bool const is_other = layer != before && (fraction == 1 || away_tier(policy));
        if (is_other) to.push_back(near);
      }
    }
    layer = before;
  }
}

// From a guess to what its excess asks for, and now and then half of what is between. Parameters
// that begin to move need room to come back to: all optimizer state comes first.
int ChoiceMaker::fewest_moves(Choice choice, int guess) const {
  int fails = 0, does = m_mover.most();
  for (int tries = 1; does - fails > 1; ++tries) {
    if (fails < m_mover.optimizers()) guess = std::min(guess, m_mover.optimizers());
    int const at = tries % 4 == 0 ? (fails + does) / 2 : std::clamp(guess, fails + 1, does - 1);
    choice.moves.count = at;
    auto const bytes = peaks(choice)[Tier::device];
    (bytes <= m_budgets.device_bytes ? does : fails) = at;
    guess = m_mover.moves_for(bytes - m_budgets.device_bytes, choice.moves);
  }
  return does;
}

}  // namespace spillway
