#include "plan/search/search.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>
#include <vector>

#include "plan/search/pool.hpp"

namespace spillway {
namespace {

// Estimates times for three candidates of each family, then for all of the best families.
void time_families(CandidatePool& pool) {
  pool.sort();
  std::map<CandidateFamily, std::vector<Candidate*>> families;
  for (Candidate& found : pool.found()) families[family_of(found)].push_back(&found);
  std::vector<std::pair<double, CandidateFamily>> order;
  for (auto& [family, members] : families) {
    std::ranges::stable_sort(members, {},
                             [](Candidate const* one) { return one->strategy.mix.layers; });
    double shortest_s = std::numeric_limits<double>::infinity();
    for (auto* const one : {members.front(), members[members.size() / 2], members.back()}) {
      pool.time(*one);
      if (one->timed) shortest_s = std::min(shortest_s, one->expected_s());
    }
    order.emplace_back(shortest_s, family);
  }
  std::ranges::sort(order);
  order.resize(std::min(order.size(), pool.most_families()));
  for (auto const& [step_s, family] : order) {
    for (auto* const one : families[family]) pool.time(*one);
  }
  pool.keep_best();
}

// Tries the strategies that differ from this one in a single choice and, since that frees room or
// needs it, in how much state moves.
void try_around(CandidatePool& pool, Strategy const& strategy) {
  for (Strategy near : pool.space().neighbours(strategy)) {
    pool.try_and_time(near);
    if (near.moves.count != strategy.moves.count) continue;
    pool.move_until_it_fits(near);
    if (near.moves.count != strategy.moves.count) pool.try_and_time(near);
  }
}

// Tries the strategies around those of the best candidates, each of another family, for some rounds
// or until all around these were tried.
void refine(CandidatePool& pool) {
  int const most_rounds = pool.space().layers() > kManyLayers ? 2 : 12;
  constexpr std::size_t families = 4;
  std::vector<Plan> done;
  for (int round = 0; round < most_rounds; ++round) {
    pool.sort();
    auto const is_new = [&](Candidate const& it) { return std::ranges::count(done, it.plan) == 0; };
    auto const first = pool.best_found(families, 1, family_of);
    auto const next = std::ranges::find_if(first, is_new);
    if (next == first.end()) return;
    done.push_back(next->plan);
    try_around(pool, Strategy(next->strategy));
  }
}

}  // namespace

SearchResult search(Estimator const& estimator, OpenPlan const& open, Budgets const& budgets,
                    KindErrors const& errors, double best_s) {
  CandidatePool pool(estimator, open, budgets, errors, best_s);
  try_mixes(pool);
  time_families(pool);
  try_variants(pool);
  refine(pool);
  pool.keep_best();
  return pool.take();
}

}  // namespace spillway
