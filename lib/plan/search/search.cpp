#include "plan/search/search.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <ranges>
#include <tuple>

#include "plan/search/state_moves.hpp"

namespace spillway {

namespace {

// Candidates that are kept, and of them with the same activations.
constexpr std::size_t kKept = 64;
constexpr std::ptrdiff_t kOfSameActivations = 4;

class Search {
 public:
  Search(Estimator const& estimator, OpenPlan const& open, Budgets const& budgets)
      : m_estimator(estimator),
        m_open(open),
        m_budgets(budgets),
        m_maker(estimator, open, budgets) {}

  SearchResult run() {
    auto const policies = policies_within(m_open, m_budgets);
    int const prefetch = m_open.prefetch ? kShortestPrefetch : m_open.plan.prefetch;
    for (auto const& mix : activation_mixes(policies, m_maker.layers()))
      try_mix({mix, {}, {}, prefetch});
    if (m_found.empty()) {
      for (Choice const& choice : m_in_vain) move_what_rest_takes(choice);
    }
    time_kinds();
    try_variants();
    refine();
    keep_best();
    for (Found& found : m_found) m_result.fitting.push_back(std::move(found.candidate));
    return std::move(m_result);
  }

 private:
  StateMover const& mover() const { return m_maker.mover(); }

  struct Found {
    Candidate candidate;
    bool timed = false;  // else step_s is a bound
  };

  // The fewest moves with which the device suffices.
  void try_mix(Choice choice) {
    auto const peaks = try_choice(choice);
    if (mover().most() == 0 || fits(peaks, m_budgets) || !rest_fits(peaks, m_budgets)) return;
    auto const excess_bytes = peaks[Tier::device] - m_budgets.device_bytes;
    int const guess = mover().moves_for(excess_bytes, choice.moves);
    choice.moves.count = mover().most();
    m_maker.find_room(choice);
    choice.moves.count = m_maker.fewest_moves(choice, guess);
    if (!fits(try_choice(choice), m_budgets)) try_without_prefetch(choice);
  }

  // Parameters that are not brought ahead take fewest bytes.
  void try_without_prefetch(Choice choice) {
    if (m_open.prefetch && choice.moves.count > mover().optimizers()) {
      choice.prefetch = 0;
      choice.moves.count = m_maker.fewest_moves(choice, choice.moves.count);
      if (fits(try_choice(choice), m_budgets)) return;
    }
    m_in_vain.push_back(choice);
  }

  // As much as other tiers can take, so that one may say what the device would need.
  void move_what_rest_takes(Choice choice) {
    int does = 0, fails = choice.moves.count;
    while (fails - does > 1) {
      choice.moves.count = (fails + does) / 2;
      bool const suffices = rest_fits(m_maker.peaks(choice), m_budgets);
      (suffices ? does : fails) = choice.moves.count;
    }
    choice.moves.count = does;
    try_choice(choice);
  }

  // Other ways to move as much state, and more of it: updates beside the next forward pass may hide
  // better.
  void try_variants() {
    constexpr std::size_t most = 4;
    bool const two_tiers = m_budgets.host_bytes > 0 && m_budgets.nvme_bytes > 0;
    for (Choice choice : best_of_kinds(most)) {
      int const count = choice.moves.count;
      if (count == 0) continue;
      choice.moves = {.count = count, .device_updates = true};
      try_counts(choice);
      for (bool const drive_only : {false, true}) {
        if (drive_only && !two_tiers) continue;
        for (bool const from_back : {true, false}) {
          for (bool const parameters_from_back : {true, false}) {
            if (count <= mover().optimizers() && !parameters_from_back) continue;
            choice.moves = {from_back, parameters_from_back, drive_only, count};
            try_counts(choice);
          }
        }
      }
    }
  }

  void try_counts(Choice choice) {
    int const count = choice.moves.count;
    for (int const moves : {count, count + 1, count + 2, mover().optimizers()}) {
      choice.moves.count = moves;
      if (moves < count || moves > mover().most()) continue;
      m_maker.find_room(choice);
      try_and_time(choice);
    }
  }

  // The best one of every kind of mix, as far as m_found is in order.
  std::vector<Choice> best_of_kinds(std::size_t most) const {
    std::vector<Choice> result;
    for (Found const& found : m_found) {
      auto const is_alike = [&](Choice const& other) {
        return other.mix.kind == found.candidate.choice.mix.kind;
      };
      if (result.size() < most && std::ranges::none_of(result, is_alike))
        result.push_back(found.candidate.choice);
    }
    return result;
  }

  // Its peaks; known from then on if it fits and may be among the best.
  TierBytes try_choice(Choice const& choice) {
    auto candidate = estimated(choice, m_maker, m_estimator);
    auto const peaks = candidate.peaks;
    ++m_result.looked_at;
    bool const limited = !std::isinf(m_budgets.nvme_bytes_per_s);
    if (fits(peaks, m_budgets) || (limited && rest_fits(peaks, m_budgets)))
      candidate.step_s = m_estimator.sums(candidate.plan).bound_s();
    candidate.wears_too_fast = wears_too_fast(candidate, m_estimator, m_budgets);
    note_leanest(candidate);
    if (fits(peaks, m_budgets) && !candidate.wears_too_fast && !is_known(candidate))
      m_found.push_back({std::move(candidate)});
    return peaks;
  }

  bool is_known(Candidate const& candidate) const {
    return std::ranges::any_of(m_found, [&](Found const& found) {
      return found.candidate.peaks == candidate.peaks && found.candidate.plan == candidate.plan;
    });
  }

  void note_leanest(Candidate const& candidate) {
    auto const rank = [&](Candidate const& c) {
      return std::tuple(c.wears_too_fast, all_missing_bytes(c.peaks, m_budgets),
                        c.peaks[Tier::device], c.peaks[Tier::nvme]);
    };
    bool const first = m_result.leanest.plan.blocks.empty();
    if (first || rank(candidate) < rank(m_result.leanest)) m_result.leanest = candidate;
  }

  // The fastest first; what was not timed is not among them.
  void keep_best() {
    std::erase_if(m_found, [](Found const& found) { return !found.timed; });
    sort_by_time();
    std::vector<Found> best;
    for (Found& found : m_found) {
      auto const& blocks = found.candidate.plan.blocks;
      auto const alike = std::ranges::count_if(
          best, [&](Found const& other) { return other.candidate.plan.blocks == blocks; });
      if (best.size() < kKept && alike < kOfSameActivations) best.push_back(std::move(found));
    }
    m_found = std::move(best);
  }

  void sort_by_time() { std::ranges::stable_sort(m_found, better, &Found::candidate); }

  // An estimate instead of the bound, where that may be among the shortest.
  void time(Found& found) {
    if (found.timed || found.candidate.step_s > kHopeless * m_best_s) return;
    take_time(found.candidate, m_estimator);
    found.timed = true;
    m_best_s = std::min(m_best_s, found.candidate.step_s);
  }

  void try_and_time(Choice const& choice) {
    auto const before = m_found.size();
    try_choice(choice);
    if (m_found.size() > before) time(m_found.back());
  }

  // Some of every kind of mix, then all of the best kinds.
  void time_kinds() {
    constexpr std::size_t best_kinds = 4;
    sort_by_time();
    std::map<std::size_t, std::vector<std::size_t>> kinds;  // of m_found, by number of layers
    for (std::size_t i = 0; i < m_found.size(); ++i)
      kinds[m_found[i].candidate.choice.mix.kind].push_back(i);
    std::vector<std::pair<double, std::size_t>> order;
    for (auto& [kind, members] : kinds) {
      std::ranges::stable_sort(members, {},
                               [&](auto i) { return m_found[i].candidate.choice.mix.layers; });
      for (auto const i : {members.front(), members[members.size() / 2], members.back()})
        time(m_found[i]);
      order.emplace_back(shortest_s(members), kind);
    }
    std::ranges::sort(order);
    for (auto const& [step_s, kind] : order | std::views::take(best_kinds)) {
      for (auto const i : kinds[kind]) time(m_found[i]);
    }
    keep_best();
  }

  double shortest_s(std::vector<std::size_t> const& members) const {
    double shortest = std::numeric_limits<double>::infinity();
    for (auto const i : members) {
      if (m_found[i].timed) shortest = std::min(shortest, m_found[i].candidate.step_s);
    }
    return shortest;
  }

  // What is near the best ones.
  void refine() {
    constexpr std::size_t most = 2;
    sort_by_time();
    std::vector<Choice> best;
    for (Found const& found : m_found | std::views::take(most))
      best.push_back(found.candidate.choice);
    for (Choice const& choice : best) {
      for (Choice const& near : m_maker.neighbours(choice)) try_and_time(near);
    }
  }

  Estimator const& m_estimator;
  OpenPlan const& m_open;
  Budgets m_budgets;
  ChoiceMaker m_maker;
  std::vector<Found> m_found;
  std::vector<Choice> m_in_vain;  // all moves that help the device are too few, or too many
  double m_best_s = std::numeric_limits<double>::infinity();  // of what was timed
  SearchResult m_result;
};

}  // namespace

bool wears_too_fast(Candidate const& candidate, Estimator const& estimator,
                    Budgets const& budgets) {
  auto const most = budgets.nvme_bytes_per_s;
  if (std::isinf(most)) return false;
  auto const moved = estimator.sums(candidate.plan).moved_bytes;
  auto const bytes = static_cast<double>(moved[Lane::nvme_write]);
  return bytes > most * candidate.step_s && bytes > most * estimator.step_s(candidate.plan);
}

void take_time(Candidate& candidate, Estimator const& estimator) {
  candidate.step_s = estimator.step_s(candidate.plan);
  candidate.moved_bytes = between_tiers(estimator.sums(candidate.plan).moved_bytes);
}

Candidate estimated(Choice const& choice, ChoiceMaker const& maker, Estimator const& estimator) {
  Candidate result{maker.plan_of(choice), choice};
  result.peaks = estimator.peaks(result.plan);
  return result;
}

// In classes of alike times, so that there is an order.
bool better(Candidate const& a, Candidate const& b) {
  auto const rank = [](Candidate const& c) {
    auto const time = std::floor(std::log(std::max(c.step_s, 1e-12)) / kAlike);
    return std::tuple(time, c.moved_bytes, c.step_s);
  };
  return rank(a) < rank(b);
}

bool rest_fits(TierBytes const& peaks, Budgets const& budgets) {
  return peaks[Tier::host] <= budgets.host_bytes && peaks[Tier::nvme] <= budgets.nvme_bytes;
}

bool fits(TierBytes const& peaks, Budgets const& budgets) {
  return peaks[Tier::device] <= budgets.device_bytes && rest_fits(peaks, budgets);
}

SearchResult search(Estimator const& estimator, OpenPlan const& open, Budgets const& budgets) {
  return Search(estimator, open, budgets).run();
}

}  // namespace spillway
