#include "plan/search.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <ranges>
#include <tuple>

#include "plan/state_moves.hpp"

namespace spillway {

namespace {

// Candidates that are kept, and of them with the same activations.
constexpr std::size_t kKept = 64;
constexpr std::ptrdiff_t kAlike = 4;

struct Choice {
  ActivationMix mix;
  StateMoves moves;
  int prefetch = kShortestPrefetch;
  std::int64_t host_bytes = 0;  // that moves may take
};

// Whether anything is brought back that a distance could be chosen for.
bool brings_anything(Plan const& plan) {
  auto const leaves = [](BlockPlan const& block) { return away_tier(block.policy).has_value(); };
  auto const comes = [](ChunkPlan const& chunk) { return chunk.parameters != Tier::device; };
  return std::ranges::any_of(plan.blocks, leaves) || std::ranges::any_of(plan.chunks, comes);
}

class Search {
 public:
  Search(Estimator const& estimator, OpenPlan const& open, Budgets const& budgets)
      : m_estimator(estimator),
        m_open(open),
        m_budgets(budgets),
        m_mover(estimator, open, m_budgets) {
    for (std::size_t b = 0; b < open.layers.size(); ++b) {
      if (open.layers[b]) m_layers.push_back(b);
    }
  }

  SearchResult run() {
    for (Choice const& choice : by_bound()) try_mix(choice);
    time_kinds();
    try_variants();
    refine();
    keep_best();
    for (Found& found : m_found) m_result.fitting.push_back(std::move(found.candidate));
    return std::move(m_result);
  }

 private:
  struct Found {
    Candidate candidate;
    Choice choice;
    bool timed = false;  // else step_s is a bound
  };

  // Shortest first by what their activations alone take.
  std::vector<Choice> by_bound() const {
    std::vector<std::pair<double, Choice>> all;
    int const prefetch = m_open.prefetch ? kShortestPrefetch : m_open.plan.prefetch;
    auto const policies = policies_within(m_open, m_budgets);
    for (auto const& mix : activation_mixes(policies, static_cast<int>(m_layers.size()))) {
      Choice const choice{mix, {}, prefetch};
      all.emplace_back(m_estimator.activations_bound_s(plan_of(choice)), choice);
    }
    std::ranges::stable_sort(all, {}, [](auto const& entry) { return entry.first; });
    std::vector<Choice> result;
    for (auto const& entry : all) result.push_back(entry.second);
    return result;
  }

  Plan plan_of(Choice const& choice) const {
    Plan plan = m_open.plan;
    plan.prefetch = choice.prefetch;
    apply(choice.mix, m_layers, plan);
    m_mover.apply(choice.moves, choice.host_bytes, plan);
    return plan;
  }

  // Where so much state moves as the choice says.
  void find_room(Choice& choice) const {
    choice.host_bytes =
        m_mover.room_on_host(plan_of(choice), choice.moves.count, choice.moves.from_back);
  }

  // The fewest moves with which the device suffices.
  void try_mix(Choice choice) {
    auto const peaks = try_choice(choice);
    if (m_mover.most() == 0 || fits(peaks, m_budgets) || !rest_fits(peaks, m_budgets)) return;
    choice.moves.count = m_mover.most();
    find_room(choice);
    auto const excess_bytes = peaks[index(Tier::device)] - m_budgets.device_bytes;
    choice.moves.count = fewest_moves(choice, m_mover.moves_for(excess_bytes, choice.moves));
    if (!fits(try_choice(choice), m_budgets)) try_without_prefetch(choice);
  }

  bool device_suffices(Choice choice, int moves) const {
    choice.moves.count = moves;
    auto const peaks = m_estimator.peaks(plan_of(choice));
    return peaks[index(Tier::device)] <= m_budgets.device_bytes;
  }

  // Strides from a guess, then halves what is between.
  int fewest_moves(Choice const& choice, int guess) const {
    int fails = 0, does = m_mover.most();
    for (int at = guess, stride = 1; fails < at && at < does; stride *= 2) {
      bool const suffices = device_suffices(choice, at);
      (suffices ? does : fails) = at;
      at += suffices ? -stride : stride;
    }
    while (does - fails > 1) {
      int const at = (fails + does) / 2;
      (device_suffices(choice, at) ? does : fails) = at;
    }
    return does;
  }

  // Parameters that are not brought ahead take fewest bytes. If even that does not fit: as much as
  // other tiers can take, so that one may say what the device would need.
  void try_without_prefetch(Choice choice) {
    if (m_open.prefetch && choice.moves.count > m_mover.optimizers()) {
      choice.prefetch = 0;
      if (fits(try_choice(choice), m_budgets)) return;
    }
    int does = 0, fails = choice.moves.count;
    while (fails - does > 1) {
      choice.moves.count = (fails + does) / 2;
      bool const suffices = rest_fits(m_estimator.peaks(plan_of(choice)), m_budgets);
      (suffices ? does : fails) = choice.moves.count;
    }
    choice.moves.count = does;
    try_choice(choice);
  }

  // Other ways to move as much state, and more of it: updates beside the next forward pass may hide
  // better.
  void try_variants() {
    constexpr std::size_t most = 8;
    bool const two_tiers = m_budgets.host_bytes > 0 && m_budgets.nvme_bytes > 0;
    for (Choice choice : best_choices(most)) {
      int const count = choice.moves.count;
      if (count == 0) continue;
      for (bool const drive_only : {false, true}) {
        if (drive_only && !two_tiers) continue;
        for (bool const from_back : {true, false}) {
          for (bool const parameters_from_back : {true, false}) {
            if (count <= m_mover.optimizers() && !parameters_from_back) continue;
            choice.moves = {from_back, parameters_from_back, drive_only, count};
            try_counts(choice);
          }
        }
      }
    }
  }

  void try_counts(Choice choice) {
    int const count = choice.moves.count;
    for (int const moves : {count, count + 1, count + 2, m_mover.optimizers()}) {
      choice.moves.count = moves;
      if (moves < count || moves > m_mover.most()) continue;
      find_room(choice);
      try_and_time(choice);
    }
  }

  std::vector<Choice> best_choices(std::size_t most) const {
    std::vector<Choice> result;
    for (std::size_t i = 0; i < std::min(most, m_found.size()); ++i)
      result.push_back(m_found[i].choice);
    return result;
  }

  // Its peaks; known from then on if it fits and may be among the best.
  TierBytes try_choice(Choice const& choice) {
    Candidate candidate{plan_of(choice)};
    candidate.peaks = m_estimator.peaks(candidate.plan);
    auto const peaks = candidate.peaks;
    ++m_result.looked_at;
    bool const may_fit = rest_fits(peaks, m_budgets);
    if (may_fit) candidate.step_s = m_estimator.bound_s(candidate.plan);
    candidate.wears_too_fast = wears_too_fast(candidate);
    note_leanest(candidate);
    if (fits(peaks, m_budgets) && !candidate.wears_too_fast && !is_known(candidate))
      m_found.push_back({std::move(candidate), choice});
    return peaks;
  }

  bool wears_too_fast(Candidate const& candidate) const {
    if (std::isinf(m_budgets.nvme_bytes_per_s)) return false;
    auto const bytes = static_cast<double>(m_estimator.nvme_written_bytes(candidate.plan));
    return bytes > 0 && bytes > m_budgets.nvme_bytes_per_s * m_estimator.step_s(candidate.plan);
  }

  bool is_known(Candidate const& candidate) const {
    return std::ranges::any_of(m_found, [&](Found const& found) {
      return found.candidate.peaks == candidate.peaks && found.candidate.plan == candidate.plan;
    });
  }

  void note_leanest(Candidate const& candidate) {
    auto const rank = [&](Candidate const& c) {
      return std::tuple(!rest_fits(c.peaks, m_budgets), c.wears_too_fast,
                        c.peaks[index(Tier::device)], c.peaks[index(Tier::nvme)]);
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
      if (best.size() < kKept && alike < kAlike) best.push_back(std::move(found));
    }
    m_found = std::move(best);
  }

  void sort_by_time() {
    std::ranges::stable_sort(m_found, {},
                             [](Found const& found) { return found.candidate.step_s; });
  }

  // An estimate instead of the bound, where that may be among the shortest.
  void time(Found& found) {
    if (found.timed || found.candidate.step_s > kHopeless * m_best_s) return;
    found.candidate.step_s = m_estimator.step_s(found.candidate.plan);
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
    constexpr std::size_t best_kinds = 6;
    sort_by_time();
    std::map<std::size_t, std::vector<std::size_t>> kinds;  // of m_found, by number of layers
    for (std::size_t i = 0; i < m_found.size(); ++i) kinds[m_found[i].choice.mix.kind].push_back(i);
    std::vector<std::pair<double, std::size_t>> order;
    for (auto& [kind, members] : kinds) {
      std::ranges::sort(members, {}, [&](auto i) { return m_found[i].choice.mix.layers; });
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
    constexpr std::size_t most = 4;
    sort_by_time();
    for (Choice const& best : best_choices(most)) {
      for (Choice const& choice : neighbours(best)) try_and_time(choice);
    }
  }

  std::vector<Choice> neighbours(Choice const& choice) const {
    std::vector<Choice> result;
    auto const all = static_cast<int>(m_layers.size());
    for (int const layers : {choice.mix.layers - 2, choice.mix.layers - 1, choice.mix.layers + 1}) {
      auto near = choice;
      near.mix.layers = layers;
      if (0 <= layers && layers <= all) result.push_back(near);
    }
    for (int const moves : {choice.moves.count - 1, choice.moves.count + 1}) {
      auto near = choice;
      near.moves.count = moves;
      if (0 <= moves && moves <= m_mover.most()) result.push_back(near);
    }
    for (Choice& near : result) find_room(near);
    bool const fixed =
        !m_open.prefetch || choice.prefetch == 0 || !brings_anything(plan_of(choice));
    for (int prefetch = 2 * choice.prefetch; !fixed && prefetch <= 8; prefetch *= 2) {
      auto near = choice;
      near.prefetch = prefetch;
      result.push_back(near);
    }
    return result;
  }

  Estimator const& m_estimator;
  OpenPlan const& m_open;
  Budgets m_budgets;
  StateMover m_mover;
  std::vector<std::size_t> m_layers;  // that are open
  std::vector<Found> m_found;
  double m_best_s = std::numeric_limits<double>::infinity();  // of what was timed
  SearchResult m_result;
};

}  // namespace

bool rest_fits(TierBytes const& peaks, Budgets const& budgets) {
  return peaks[index(Tier::host)] <= budgets.host_bytes &&
         peaks[index(Tier::nvme)] <= budgets.nvme_bytes;
}

bool fits(TierBytes const& peaks, Budgets const& budgets) {
  return peaks[index(Tier::device)] <= budgets.device_bytes && rest_fits(peaks, budgets);
}

SearchResult search(Estimator const& estimator, OpenPlan const& open, Budgets const& budgets) {
  return Search(estimator, open, budgets).run();
}

}  // namespace spillway
