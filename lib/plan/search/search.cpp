#include "plan/search/search.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <ranges>
#include <span>
#include <tuple>
#include <utility>

#include "base/math.hpp"

namespace spillway {

namespace {

// At most kKept candidates are kept, and at most kOfSameActivations that treat activations alike.
constexpr std::size_t kKept = 64;
constexpr std::ptrdiff_t kOfSameActivations = 4;
// Plans of more layers than these take much memory and time, so fewer of them are tried.
constexpr int kManyLayers = 300;

class Search {
 public:
  Search(Estimator const& estimator, OpenPlan const& open, Budgets const& budgets, double best_s)
      : m_space(estimator, open, budgets), m_best_s(best_s) {}

  SearchResult run() {
    auto const& open = m_space.open();
    try_mixes(open.plan.group);
    if (open.group) try_larger_groups();
    if (m_found.empty()) {
      for (Strategy const& strategy : m_in_vain) move_what_rest_takes(strategy);
    }
    time_families();
    try_variants();
    refine();
    keep_best();
    return std::move(m_result);
  }

 private:
  // Candidates of one family have mixes of one kind, and move state in one way.
  using Family = std::tuple<std::size_t, bool, Sums>;
  static Family family_of(Candidate const& found) {
    auto const& [mix, moves] = std::tie(found.strategy.mix, found.strategy.moves);
    return {mix.kind, moves.parameters_first, moves.sums};
  }

  Budgets const& budgets() const { return m_space.budgets(); }

  // Tries every mix with some ways to move state: with those that are fastest where all layers
  // treat activations alike.
  void try_mixes(std::int64_t group) {
    auto mixes = activation_mixes(policies_within(m_space.open(), budgets()), m_space.layers());
    auto const is_alike = [&](ActivationMix const& mix) {
      return mix.layers == 0 || mix.layers == m_space.layers();
    };
    auto const [rest, end] = std::ranges::stable_partition(mixes, is_alike);
    for (StateMoves const& way : fastest_ways({mixes.begin(), rest}, group))
      try_mixes({rest, end}, way, group);
  }

  void try_mixes(std::span<ActivationMix const> mixes, StateMoves const& way, std::int64_t group) {
    auto const& open = m_space.open();
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
      auto const before = m_found.size();
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
    for (Candidate& found : m_found | std::views::drop(first)) {
      time(found);
      if (found.timed) shortest_s = std::min(shortest_s, found.step_s);
    }
    return shortest_s;
  }

  // More micro-batches that walk together move parameters and sums of gradients less often, and
  // have more activations.
  void try_larger_groups() {
    auto const gains = [](Candidate const& found) { return gains_by_groups(found.plan); };
    auto const most = std::min(m_space.open().most_group, m_space.estimator().micro_batches());
    for (auto group = m_space.open().plan.group; group < most;) {
      group = std::min(2 * group, most);
      if (std::ranges::any_of(m_found, gains)) try_mixes(group);
    }
  }

  // Tries the strategy with the fewest moves of state, made in its way, with which a plan fits the
  // device's budget.
  void try_mix(Strategy strategy) {
    if (!std::isinf(m_best_s) && is_hopeless(passes_s(strategy))) return;
    auto const peaks = try_strategy(strategy);
    if (m_space.most_moves() == 0 || fits(peaks, budgets()) || !rest_fits(peaks, budgets())) return;
    auto const excess_bytes = peaks[Tier::device] - budgets().device_bytes;
    strategy.moves.count = m_space.moves_for(excess_bytes, strategy);
    move_until_it_fits(strategy);
    if (fits(try_strategy(strategy), budgets())) return;
    // A plan needs the fewest bytes if it does not bring parameters ahead of their use.
    if (m_space.open().prefetch && m_space.moved_parameters(strategy.moves) > 0) {
      strategy.prefetch = 0;
      strategy.moves.count = m_space.fewest_moves(strategy, strategy.moves.count);
      if (fits(try_strategy(strategy), budgets())) return;
    }
    m_in_vain.push_back(strategy);
  }

  // Moves as much state as other tiers have room for, to find out what the device would need then.
  void move_what_rest_takes(Strategy strategy) {
    int does = 0, fails = strategy.moves.count;
    while (fails - does > 1) {
      strategy.moves.count = (fails + does) / 2;
      bool const suffices = rest_fits(m_space.peaks(strategy), budgets());
      (suffices ? does : fails) = strategy.moves.count;
    }
    strategy.moves.count = does;
    try_strategy(strategy);
  }

  // Tries other ways to move as much state, or more of it. Updates beside the next forward pass may
  // then delay the pass less.
  void try_variants() {
    bool const two_tiers = budgets().host_bytes > 0 && budgets().nvme_bytes > 0;
    constexpr std::size_t most_families = 6;
    for (Candidate const& best : best_found(most_families, 1, family_of)) {
      try_persistent(best.strategy);
      try_longer_prefetches(best);
      auto strategy = best.strategy;
      try_early(strategy);
      try_leaving(strategy);
      auto const moves = strategy.moves;
      if (moves.count == 0) continue;
      strategy.moves = {.count = moves.count, .device_updates = true};
      try_more_counts(strategy);
      strategy.moves.sums = Sums::host;
      try_more_counts(strategy);
      if (m_space.shares_host_room(best.strategy)) {
        strategy.moves = moves;
        strategy.moves.parameters_near = !moves.parameters_near;
        try_counts(strategy);
      }
      if (m_space.may_begin_with_either(best.strategy)) {
        strategy.moves = moves;
        strategy.moves.parameters_first = !moves.parameters_first;
        try_more_counts(strategy);
      }
      for (Sums const sums : m_space.other_sums(best.strategy)) {
        strategy.moves = moves;
        strategy.moves.sums = sums;
        try_more_counts(strategy);
      }
      for (bool const drive_only : {false, true}) {
        if (drive_only && !two_tiers) continue;
        for (bool const from_back : {true, false}) {
          for (bool const parameters_from_back : {true, false}) {
            if (m_space.moved_parameters(moves) == 0 && !parameters_from_back) continue;
            strategy.moves = moves;
            strategy.moves.from_back = from_back;
            strategy.moves.parameters_from_back = parameters_from_back;
            strategy.moves.drive_only = drive_only;
            try_counts(strategy);
          }
        }
      }
    }
  }

  // A longer prefetch needs room on the device, so more state moves.
  void try_longer_prefetches(Candidate const& found) {
    if (!m_space.open().prefetch || !brings_anything_ahead(found.plan)) return;
    auto strategy = found.strategy;
    for (int const prefetch : {2, 4}) {
      if (prefetch <= found.strategy.prefetch) continue;
      strategy.prefetch = prefetch;
      move_until_it_fits(strategy);
      try_and_time(strategy);
    }
  }

  // Updates that are put off leave the host to those that the next forward pass needs first.
  void try_early(Strategy strategy) {
    if (!m_space.may_put_off(strategy)) return;
    for (auto const early : kEarlyPercents) {
      strategy.early = early;
      try_and_time(strategy);
    }
  }

  // Optimizer state that could stay may leave all the same: the host then updates beside the
  // passes.
  void try_leaving(Strategy strategy) {
    if (m_space.open().plan.unified || budgets().host_bytes == 0) return;
    constexpr int parts = 4;
    auto const least = strategy.moves.count;
    for (Sums const sums : {Sums::at_update, Sums::device}) {
      strategy.moves.sums = sums;
      for (int part = 1; part <= parts; ++part) {
        strategy.moves.count = div_ceil(m_space.optimizers() * part, parts);
        if (strategy.moves.count <= least) continue;
        m_space.find_room(strategy);
        try_and_time(strategy);
      }
    }
  }

  // Persistent chunks are sent only once a step, but leave less room for other state.
  void try_persistent(Strategy strategy) {
    constexpr int parts = 4;
    int const count = strategy.moves.count;
    for (int part = 1; part <= parts && m_space.shared() > 0; ++part) {
      strategy.persistent = div_ceil(m_space.shared() * part, parts);
      strategy.moves.count = 0;
      if (try_and_time(strategy) || m_space.most_moves() == 0) continue;
      strategy.moves.count = count;
      move_until_it_fits(strategy);
      try_and_time(strategy);
    }
  }

  // Makes the fewest moves of state with which the strategy's plan fits on the device.
  void move_until_it_fits(Strategy& strategy) const {
    if (m_space.most_moves() == 0) return;
    int const guess = std::exchange(strategy.moves.count, m_space.most_moves());
    m_space.find_room(strategy);
    strategy.moves.count = m_space.fewest_moves(strategy, guess);
  }

  // Tries counts from the fewest on with which the plan fits.
  void try_more_counts(Strategy strategy) {
    move_until_it_fits(strategy);
    try_counts(strategy);
  }

  void try_counts(Strategy strategy) {
    int const count = strategy.moves.count;
    int const of_first =
        strategy.moves.parameters_first ? m_space.parameters() : m_space.optimizers();
    for (int const moves : {count, count + 1, count + 2, of_first}) {
      strategy.moves.count = moves;
      if (moves < count || moves > m_space.most_moves()) continue;
      m_space.find_room(strategy);
      try_and_time(strategy);
    }
  }

  // Returns the first `most` of m_found, but no more than `alike` of them with equal keys.
  template <class Key>
  std::vector<Candidate> best_found(std::size_t most, std::ptrdiff_t alike, Key key_of) const {
    std::vector<Candidate> result;
    for (Candidate const& found : m_found) {
      if (result.size() == most) break;
      if (std::ranges::count(result, key_of(found), key_of) < alike) result.push_back(found);
    }
    return result;
  }

  // Returns the peaks of the strategy's plan, and adds the plan to m_found if it fits and is new.
  TierBytes try_strategy(Strategy const& strategy) {
    auto tried = make_candidate(strategy, m_space);
    auto const peaks = tried.peaks;
    ++m_result.estimated;
    bool const fits = spillway::fits(peaks, budgets());
    bool const limited = !std::isinf(budgets().nvme_bytes_per_s);
    if (fits || (limited && rest_fits(peaks, budgets())))
      tried.step_s = m_space.estimator().sums(tried.plan).bound_s();
    tried.wears_too_fast = wears_too_fast(tried, m_space);
    note_leanest(tried);
    auto const is_same = [&](Candidate const& other) {
      return other.peaks == peaks && other.plan == tried.plan;
    };
    if (fits && !tried.wears_too_fast && std::ranges::none_of(m_found, is_same))
      m_found.push_back(std::move(tried));
    return peaks;
  }

  // Says whether two plans differ at most in a prefetch of nothing.
  static bool are_the_same(Candidate const& a, Candidate const& b) {
    auto plan = a.plan;
    if (!brings_anything_ahead(plan)) plan.prefetch = b.plan.prefetch;
    return plan == b.plan;
  }

  void note_leanest(Candidate const& candidate) {
    auto const rank = [&](Candidate const& c) {
      return std::tuple(c.wears_too_fast, all_missing_bytes(c.peaks, budgets()),
                        c.peaks[Tier::device], c.peaks[Tier::nvme]);
    };
    auto& leanest = m_result.leanest;
    if (leanest.plan.blocks.empty() || rank(candidate) < rank(leanest)) leanest = candidate;
  }

  // Drops candidates whose time was not estimated, and keeps the best of the others, best first.
  void keep_best() {
    std::erase_if(m_found, [](Candidate const& found) { return !found.timed; });
    std::ranges::stable_sort(m_found, better);
    auto const [rest, end] = std::ranges::unique(m_found, are_the_same);
    m_found.erase(rest, end);
    auto const activations_of = [](Candidate const& found) -> auto const& {
      return found.plan.blocks;
    };
    m_found = best_found(kKept, kOfSameActivations, activations_of);
  }

  // Estimates the time of the candidate's step if the candidate may be among the fastest.
  void time(Candidate& found) {
    if (found.timed || is_hopeless(found.step_s)) return;
    take_time(found, m_space.estimator());
    m_best_s = std::min(m_best_s, found.step_s);
  }

  // Returns a time that no plan takes less than whose layers treat activations as the strategy's
  // do.
  double passes_s(Strategy const& strategy) const {
    return m_space.estimator().passes(m_space.plan_of(strategy)).bound_s();
  }
  bool is_hopeless(double step_s) const { return step_s > kHopeless * m_best_s; }

  // Returns whether the strategy's plan fits.
  bool try_and_time(Strategy const& strategy) {
    auto const before = m_found.size();
    auto const peaks = try_strategy(strategy);
    if (m_found.size() > before) time(m_found.back());
    return fits(peaks, budgets());
  }

  // Estimates times for three candidates of each family, then for all of the best families.
  void time_families() {
    constexpr std::size_t best_families = 6;
    std::ranges::stable_sort(m_found, better);
    std::map<Family, std::vector<Candidate*>> families;
    for (Candidate& found : m_found) families[family_of(found)].push_back(&found);
    std::vector<std::pair<double, Family>> order;
    for (auto& [family, members] : families) {
      std::ranges::stable_sort(members, {},
                               [](Candidate const* one) { return one->strategy.mix.layers; });
      double shortest_s = std::numeric_limits<double>::infinity();
      for (auto* const one : {members.front(), members[members.size() / 2], members.back()}) {
        time(*one);
        if (one->timed) shortest_s = std::min(shortest_s, one->step_s);
      }
      order.emplace_back(shortest_s, family);
    }
    std::ranges::sort(order);
    for (auto const& [step_s, family] : order | std::views::take(best_families)) {
      for (auto* const one : families[family]) time(*one);
    }
    keep_best();
  }

  // Tries the strategies around those of the two best candidates, for some rounds or until all
  // around these were tried.
  void refine() {
    int const most_rounds = m_space.layers() > kManyLayers ? 2 : 6;
    constexpr std::size_t best = 2;
    std::vector<Plan> done;
    for (int round = 0; round < most_rounds; ++round) {
      std::ranges::stable_sort(m_found, better);
      auto const is_new = [&](Candidate const& it) {
        return std::ranges::count(done, it.plan) == 0;
      };
      auto const first = m_found | std::views::take(best);
      auto const next = std::ranges::find_if(first, is_new);
      if (next == first.end()) return;
      done.push_back(next->plan);
      try_around(Strategy(next->strategy));
    }
  }

  // Tries the strategies that differ from this one in a single choice and, since that frees room or
  // needs it, in how much state moves.
  void try_around(Strategy const& strategy) {
    for (Strategy near : m_space.neighbours(strategy)) {
      try_and_time(near);
      if (near.moves.count != strategy.moves.count) continue;
      move_until_it_fits(near);
      if (near.moves.count != strategy.moves.count) try_and_time(near);
    }
  }

  StrategySpace m_space;
  SearchResult m_result;
  std::vector<Candidate>& m_found = m_result.fitting;
  std::vector<Strategy> m_in_vain;  // strategies that do not fit, however much state they move
  double m_best_s;                  // the shortest time known so far
};

}  // namespace

SearchResult search(Estimator const& estimator, OpenPlan const& open, Budgets const& budgets,
                    double best_s) {
  return Search(estimator, open, budgets, best_s).run();
}

}  // namespace spillway
