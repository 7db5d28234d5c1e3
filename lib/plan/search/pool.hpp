// A CandidatePool holds what a search has found so far.
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <tuple>
#include <utility>
#include <vector>

#include "plan/search/search.hpp"

namespace spillway {

// Plans of more layers than these take much memory and time, so fewer of them are tried.
inline constexpr int kManyLayers = 300;
// Plans of no more layers are estimated so fast that a search leaves none of their families out.
inline constexpr int kFewLayers = 16;

class CandidatePool {
 public:
  // The estimator, the open plan and the errors must outlive this object. `best_s` is the shortest
  // time known.
  CandidatePool(Estimator const& estimator, OpenPlan const& open, Budgets const& budgets,
                KindErrors const& errors, double best_s)
      : m_space(estimator, open, budgets), m_errors(errors), m_best_s(best_s) {}

  StrategySpace const& space() const { return m_space; }
  OpenPlan const& open() const { return m_space.open(); }
  Budgets const& budgets() const { return m_space.budgets(); }
  std::vector<Candidate>& found() { return m_result.fitting; }
  SearchResult take() { return std::move(m_result); }

  // Returns the peaks of the strategy's plan, and adds the plan to found() if it fits and is new.
  TierBytes try_strategy(Strategy const& strategy);
  // Does the same, estimates the time of what was added, and returns whether the plan fits.
  bool try_and_time(Strategy const& strategy);
  // Estimates the time of the candidate's step if the candidate may be among the fastest.
  void time(Candidate& found);
  // Says whether no plan whose layers treat activations as the strategy's do can be fast enough.
  bool is_hopeless(Strategy const& strategy) const;

  // Makes the fewest moves of state with which the strategy's plan fits on the device.
  void move_until_it_fits(Strategy& strategy) const;

  // Returns of how many families all members are timed, and variants of the best one are tried.
  std::size_t most_families() const {
    constexpr std::size_t of_many_layers = 6;
    return space().layers() > kFewLayers ? of_many_layers : std::numeric_limits<std::size_t>::max();
  }

  void sort() { std::ranges::stable_sort(found(), better); }
  // Drops candidates whose time was not estimated, and keeps the best of the others, best first.
  void keep_best();
  // Returns the first `most` of what was found, but no more than `alike` of them with equal keys.
  template <class Key>
  std::vector<Candidate> best_found(std::size_t most, std::ptrdiff_t alike, Key key_of) const {
    std::vector<Candidate> result;
    for (Candidate const& found : m_result.fitting) {
      if (result.size() == most) break;
      if (std::ranges::count(result, key_of(found), key_of) < alike) result.push_back(found);
    }
    return result;
  }

 private:
  void note_leanest(Candidate const& candidate);
  bool takes_too_long(double step_s) const { return step_s > kHopeless * m_best_s; }

  StrategySpace m_space;
  KindErrors const& m_errors;
  SearchResult m_result;
  double m_best_s;  // the shortest time known so far
};

// Tries every mix with some ways to move state: with those that are fastest where all layers treat
// activations alike. If more micro-batches may walk together, tries that too. Where no plan fits,
// moves as much state as other tiers have room for, to find out what the device would need then.
void try_mixes(CandidatePool& pool);

// Tries other ways to move as much state as the best candidates do, or more of it, and other times
// to bring and to update it.
void try_variants(CandidatePool& pool);

// Candidates of one family have mixes of one kind, and move state in one way.
using CandidateFamily = std::tuple<std::size_t, bool, Sums>;
CandidateFamily family_of(Candidate const& found);

}  // namespace spillway
