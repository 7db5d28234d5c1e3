// What the search varies, and the Plan that follows from it.
#pragma once

#include <vector>

#include "plan/search/activation_mix.hpp"
#include "plan/search/state_moves.hpp"

namespace spillway {

struct Choice {
  ActivationMix mix;
  std::vector<BlockPlan> own = {};  // per open layer, instead of the mix; empty: none
  StateMoves moves = {};
  int prefetch = kShortestPrefetch;
  std::int64_t host_bytes = 0;  // that moves may take
};

class ChoiceMaker {
 public:
  // `estimator` and `open` outlive it.
  ChoiceMaker(Estimator const& estimator, OpenPlan const& open, Budgets const& budgets);
  ChoiceMaker(ChoiceMaker const&) = delete;
  ChoiceMaker& operator=(ChoiceMaker const&) = delete;

  StateMover const& mover() const { return m_mover; }
  int layers() const { return static_cast<int>(m_layers.size()); }  // that are open

  Plan plan_of(Choice const& choice) const;
  TierBytes peaks(Choice const& choice) const { return m_estimator.peaks(plan_of(choice)); }
  // Sets what so many moves may take of the host.
  void find_room(Choice& choice) const;
  // Of few layers, each treated otherwise; some layers more or less, from the other end or of
  // another kind; a move more or less, or from the other end; updates elsewhere; prefetch further
  // ahead.
  std::vector<Choice> neighbours(Choice const& choice) const;
  // With which the device suffices; all, if even they do not.
  int fewest_moves(Choice choice, int guess) const;

 private:
  bool ends_with_last_layer() const;
  void add_other_moves(Choice const& choice, std::vector<Choice>& to) const;
  void add_other_layers(Choice const& choice, std::vector<Choice>& to) const;

  Estimator const& m_estimator;
  OpenPlan const& m_open;
  Budgets m_budgets;
  StateMover m_mover;
  std::vector<std::size_t> m_layers;  // that are open
};

}  // namespace spillway
