#include <algorithm>
#include <limits>
#include <ranges>
#include <span>

#include "plan/search/pool.hpp"

namespace spillway {
namespace {

class Mixes {
 public:
  explicit Mixes(CandidatePool& pool) : m_pool(pool), m_space(pool.space()) {}

  void run() {
    try_mixes(m_pool.open().plan.group);
    if (m_pool.open().group) try_larger_groups();
    if (!m_pool.found().empty()) return;
    for (Strategy const& strategy : m_in_vain) move_what_rest_takes(strategy);
  }

 private:
  Budgets const& budgets() const { return m_pool.budgets(); }

  void try_mixes(std::int64_t group) {
    auto mixes = activation_mixes(policies_within(m_pool.open(), budgets()), m_space.layers());
    auto const is_alike = [&](ActivationMix const& mix) {
      return mix.layers == 0 || mix.layers == m_space.layers();
    };
    auto const [rest, end] = std::ranges::stable_partition(mixes, is_alike);
    for (StateMoves const& way : fastest_ways({mixes.begin(), rest}, group))
      try_mixes({rest, end}, way, group);
  }

  void try_mixes(std::span<ActivationMix const> mixes, StateMoves const& way, std::int64_t group) {
    auto const& open = m_pool.open();
    int const prefetch = open.prefetch ? kShortestPrefetch : open.plan.prefetch;
    for (ActivationMix const& mix : mixes)
      try_mix({.mix = mix, .moves = way, .prefetch = prefetch, .group = group});
  }

  // Tries the mixes with all ways to move state, and returns the two fastest ways and those that
  // are not much slower than the fastest, which are all ways if no plan fits.
  std::vector<StateMoves> fastest_ways(std::span<ActivationMix const> mixes, std::int64_t group) {
    double const much_slower = m_space.layers() > kManyLayers ? 1 : 1.15;
    constexpr std::size_t least = 2;
    auto const ways = m_space.ways_to_move();
    std::vector<double> times_s;
    for (StateMoves const& way : ways) {
      auto const before = m_pool.found().size();
      try_mixes(mixes, way, group);
      times_s.push_back(fastest_from(before));
    }
    auto order = times_s;
    std::ranges::sort(order);
    auto const most_s =
        std::max(much_slower * order.front(), order[std::min(least, order.size()) - 1]);
    std::vector<StateMoves> fastest;
    for (std::size_t i = 0; i < ways.size(); ++i)
      if (!(times_s[i] > most_s)) fastest.push_back(ways[i]);
    return fastest;
  }

  // Estimates the times of what was found from the number `first` on, and returns the shortest.
  double fastest_from(std::size_t first) {
    double shortest_s = std::numeric_limits<double>::infinity();
    for (Candidate& found : m_pool.found() | std::views::drop(first)) {
      m_pool.time(found);
      if (found.timed) shortest_s = std::min(shortest_s, found.expected_s());
    }
    return shortest_s;
  }

  // More micro-batches that walk together move parameters and sums of gradients less often, and
  // have more activations.
  void try_larger_groups() {
    auto const gains = [](Candidate const& found) { return gains_by_groups(found.plan); };
    auto const most = std::min(m_pool.open().most_group, m_space.estimator().micro_batches());
    for (auto group = m_pool.open().plan.group; group < most;) {
      group = std::min(2 * group, most);
      if (std::ranges::any_of(m_pool.found(), gains)) try_mixes(group);
    }
  }

  // Tries the strategy with the fewest moves of state, made in its way, with which a plan fits the
  // device's budget.
  void try_mix(Strategy strategy) {
    if (m_pool.is_hopeless(strategy)) return;
    auto const peaks = m_pool.try_strategy(strategy);
    if (m_space.most_moves() == 0 || fits(peaks, budgets()) || !rest_fits(peaks, budgets())) return;
    auto const excess_bytes = peaks[Tier::device] - budgets().device_bytes;
    strategy.moves.count = m_space.moves_for(excess_bytes, strategy);
    m_pool.move_until_it_fits(strategy);
    if (fits(m_pool.try_strategy(strategy), budgets())) return;
    // A plan needs the fewest bytes if it does not bring parameters ahead of their use.
    if (m_pool.open().prefetch && m_space.moved_parameters(strategy.moves) > 0) {
      strategy.prefetch = 0;
      strategy.moves.count = m_space.fewest_moves(strategy, strategy.moves.count);
      if (fits(m_pool.try_strategy(strategy), budgets())) return;
    }
    m_in_vain.push_back(strategy);
  }

  void move_what_rest_takes(Strategy strategy) {
    int does = 0, fails = strategy.moves.count;
    while (fails - does > 1) {
      strategy.moves.count = (fails + does) / 2;
      bool const suffices = rest_fits(m_space.peaks(strategy), budgets());
      (suffices ? does : fails) = strategy.moves.count;
    }
    strategy.moves.count = does;
    m_pool.try_strategy(strategy);
  }

  CandidatePool& m_pool;
  StrategySpace const& m_space;
  std::vector<Strategy> m_in_vain;  // strategies that do not fit, however much state they move
};

}  // namespace

void try_mixes(CandidatePool& pool) {
  Mixes(pool).run();
}

}  // namespace spillway
