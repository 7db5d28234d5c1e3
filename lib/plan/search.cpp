#include "plan/search.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace spillway {

namespace {

// Of layers: the first `count` follow `main` and `other` by turns, `share` of them `main`; the
// others `base`.
struct Mix {
  BlockPolicy main = BlockPolicy::keep, other = BlockPolicy::keep, base = BlockPolicy::keep;
  double share = 1, fraction = 1;
};

// State that leaves the device: the optimizer's of so many chunks, and, once that is all, so many
// chunks' parameters.
struct Moves {
  bool from_back = false, parameters_from_back = false;
  bool drive_only = false;  // else the host tier first, for as long as it has room
  int count = 0;
};

struct Choice {
  Mix mix;
  int layers = 0;
  Moves moves;
  int prefetch = kShortestPrefetch;
};

std::vector<Mix> mixes(std::vector<BlockPolicy> const& policies) {
  using enum BlockPolicy;
  std::vector<Mix> result = {{}};
  auto const may = [&](BlockPolicy policy) { return std::ranges::count(policies, policy) > 0; };
  for (BlockPolicy const policy : {light, recompute, host, nvme, light_host, light_nvme}) {
    if (!may(policy)) continue;
    result.push_back({policy, policy, keep});
    if (policy != light) result.push_back({policy, policy, light});
    if (!away_tier(policy)) continue;
    result.push_back({policy, policy, keep, 1, 0.5});
    for (BlockPolicy const other : {recompute, light}) {
      for (double const share : {0.75, 0.5, 0.25}) result.push_back({policy, other, keep, share});
    }
  }
  return result;
}

// Whether anything is brought back that a distance could be chosen for.
bool brings_anything(Plan const& plan) {
  return std::ranges::any_of(
             plan.blocks,
             [](BlockPlan const& block) { return away_tier(block.policy).has_value(); }) ||
         std::ranges::any_of(
             plan.chunks, [](ChunkPlan const& chunk) { return chunk.parameters != Tier::device; });
}

class Search {
 public:
  Search(Estimator const& estimator, OpenPlan const& open, Budgets const& budgets)
      : m_estimator(estimator), m_open(open), m_budgets(budgets) {
    for (std::size_t b = 0; b < open.layers.size(); ++b) {
      if (open.layers[b]) m_layers.push_back(b);
    }
    for (std::size_t c = 0; c < open.chunks.size(); ++c) {
      if (open.chunks[c].optimizer) m_optimizer.push_back(c);
      if (open.chunks[c].parameters) m_parameters.push_back(c);
    }
  }

  SearchResult run(std::vector<BlockPolicy> const& policies) {
    for (Mix const& mix : mixes(policies)) {
      for (int const layers : counts(mix)) try_states({mix, layers, {}, prefetch()});
    }
    keep_best();
    for (Found& found : m_found) time(found);
    sort_by_time();
    refine();
    keep_best();
    for (auto& [candidate, choice] : m_found) m_result.fitting.push_back(std::move(candidate));
    return std::move(m_result);
  }

 private:
  struct Found {
    Candidate candidate;
    Choice choice;
  };

  int prefetch() const { return m_open.prefetch ? kShortestPrefetch : m_open.plan.prefetch; }

  // About nine numbers of layers, all of them included.
  std::vector<int> counts(Mix const& mix) const {
    auto const all = static_cast<int>(m_layers.size());
    if (all == 0 || (mix.main == mix.base && mix.other == mix.base)) return {0};
    std::vector<int> result;
    int const step = std::max(1, all / 9);
    for (int n = all; n > 0; n -= step) result.push_back(n);
    std::ranges::reverse(result);
    return result;
  }

  Plan plan_of(Choice const& choice) const {
    Plan plan = m_open.plan;
    plan.prefetch = choice.prefetch;
    auto const& mix = choice.mix;
    for (std::size_t i = 0; i < m_layers.size(); ++i) {
      auto const turn = static_cast<double>(i);
      bool const is_main = std::ceil((turn + 1) * mix.share) > std::ceil(turn * mix.share);
      auto const policy = is_main ? mix.main : mix.other;
      bool const chosen = static_cast<int>(i) < choice.layers;
      plan.blocks[m_layers[i]] = {chosen ? policy : mix.base,
                                  chosen && away_tier(policy) ? mix.fraction : 1};
    }
    move_state(plan, choice.moves);
    return plan;
  }

  void move_state(Plan& plan, Moves const& moves) const {
    auto room = room_on_host(plan, moves);
    auto const optimizer = static_cast<int>(m_optimizer.size());
    auto const parameters = static_cast<int>(m_parameters.size());
    for (int i = 0; i < std::min(moves.count, optimizer); ++i) {
      auto const c = m_optimizer[static_cast<std::size_t>(moves.from_back ? optimizer - 1 - i : i)];
      plan.chunks[c].optimizer = away(moves, m_estimator.chunk(c).optimizer_bytes, room);
    }
    for (int i = 0; i < std::min(moves.count - optimizer, parameters); ++i) {
      auto const c = m_parameters[static_cast<std::size_t>(
          moves.parameters_from_back ? parameters - 1 - i : i)];
      plan.chunks[c].parameters = away(moves, m_estimator.chunk(c).parameter_bytes, room);
    }
    for (std::size_t c = 0; c < plan.chunks.size(); ++c) settle(plan, c);
    bool const on_host = std::ranges::any_of(
        plan.chunks, [](ChunkPlan const& chunk) { return chunk.update == Tier::host; });
    plan.redo = m_open.norm_is_awaited || !on_host;
  }

  // What follows from where a chunk's state lies. On a device of its own, gradients go to where
  // they are used.
  void settle(Plan& plan, std::size_t c) const {
    auto& places = plan.chunks[c];
    auto const& open = m_open.chunks[c];
    if (open.update) places.update = places.optimizer == Tier::device ? Tier::device : Tier::host;
    bool const to_host = !plan.unified && m_budgets.host_bytes > 0 && places.update == Tier::host;
    if (open.gradients) places.gradients = to_host ? Tier::host : Tier::device;
  }

  // Beside activations and gradients.
  std::int64_t room_on_host(Plan plan, Moves const& moves) const {
    if (m_budgets.host_bytes == 0) return 0;
    auto const moving =
        std::min<std::size_t>(static_cast<std::size_t>(moves.count), m_optimizer.size());
    for (std::size_t i = 0; i < moving; ++i) {
      auto const c = m_optimizer[moves.from_back ? m_optimizer.size() - 1 - i : i];
      plan.chunks[c].optimizer = Tier::nvme;
    }
    for (std::size_t c = 0; c < plan.chunks.size(); ++c) settle(plan, c);
    plan.redo = m_open.norm_is_awaited || moving == 0;
    return m_budgets.host_bytes - m_estimator.peaks(plan)[index(Tier::host)];
  }

  Tier away(Moves const& moves, std::int64_t bytes, std::int64_t& room) const {
    bool const fits = !moves.drive_only && bytes <= room;
    if (fits) room -= bytes;
    return fits || m_budgets.nvme_bytes == 0 ? Tier::host : Tier::nvme;
  }

  // The fewest moves with which the device suffices, each way.
  void try_states(Choice choice) {
    if (try_choice(choice)) return;
    bool const two_tiers = m_budgets.host_bytes > 0 && m_budgets.nvme_bytes > 0;
    if (m_budgets.host_bytes == 0 && m_budgets.nvme_bytes == 0) return;
    for (bool const drive_only : {false, true}) {
      if (drive_only && !two_tiers) continue;
      for (bool const from_back : {false, true}) {
        for (bool const parameters_from_back : {false, true}) {
          choice.moves = {from_back, parameters_from_back, drive_only};
          choice.moves.count = fewest_moves(choice);
          try_choice(choice) ? try_more_moves(choice) : try_without_prefetch(choice);
          if (choice.moves.count <= std::ssize(m_optimizer)) break;  // no parameters move
        }
      }
    }
  }

  // Updates beside the next forward pass may hide better where more state is away.
  void try_more_moves(Choice choice) {
    auto const optimizer = static_cast<int>(m_optimizer.size());
    int const fewest = choice.moves.count;
    for (int const count : {fewest + 1, fewest + 2, optimizer}) {
      choice.moves.count = count;
      if (fewest < count && count <= optimizer) try_choice(choice);
    }
  }

  // Parameters that are not brought ahead take fewest bytes. If even that does not fit: as much as
  // other tiers can take, so that one may say what the device would need.
  void try_without_prefetch(Choice choice) {
    if (m_open.prefetch && choice.moves.count > std::ssize(m_optimizer)) {
      choice.prefetch = 0;
      if (try_choice(choice)) return;
    }
    int does = 0, fails = choice.moves.count;
    while (fails - does > 1) {
      choice.moves.count = (fails + does) / 2;
      (rest_fits(m_estimator.peaks(plan_of(choice)), m_budgets) ? does : fails) =
          choice.moves.count;
    }
    choice.moves.count = does;
    try_choice(choice);
  }

  int fewest_moves(Choice choice) {
    auto const all = static_cast<int>(m_optimizer.size() + m_parameters.size());
    int fails = 0, does = all;
    while (does - fails > 1) {
      choice.moves.count = (fails + does) / 2;
      auto const peaks = m_estimator.peaks(plan_of(choice));
      (peaks[index(Tier::device)] <= m_budgets.device_bytes ? does : fails) = choice.moves.count;
    }
    return does;
  }

  bool try_choice(Choice const& choice) {
    Candidate candidate{plan_of(choice), 0, {}};
    candidate.peaks = m_estimator.peaks(candidate.plan);
    ++m_result.looked_at;
    note_leanest(candidate);
    if (!fits(candidate.peaks, m_budgets)) return false;
    bool const known = std::ranges::any_of(m_found, [&](Found const& found) {
      return found.candidate.peaks == candidate.peaks && found.candidate.plan == candidate.plan;
    });
    if (known) return true;
    candidate.step_s = m_estimator.bound_s(candidate.plan);
    m_found.push_back({std::move(candidate), choice});
    return true;
  }

  void note_leanest(Candidate const& candidate) {
    auto const rank = [&](Candidate const& c) {
      return std::tuple(!rest_fits(c.peaks, m_budgets), c.peaks[index(Tier::device)],
                        c.peaks[index(Tier::nvme)]);
    };
    bool const first = m_result.leanest.plan.blocks.empty();
    if (first || rank(candidate) < rank(m_result.leanest)) m_result.leanest = candidate;
  }

  void sort_by_time() {
    std::ranges::stable_sort(m_found, {},
                             [](Found const& found) { return found.candidate.step_s; });
  }
  void keep_best() {
    constexpr std::size_t most = 64;
    sort_by_time();
    if (m_found.size() > most) m_found.resize(most);
  }
  // Instead of the bound.
  void time(Found& found) const {
    found.candidate.step_s = m_estimator.step_s(found.candidate.plan);
  }

  // What is near the best ones.
  void refine() {
    constexpr std::size_t most = 4;
    auto const best =
        std::vector(m_found.begin(),
                    m_found.begin() + static_cast<std::ptrdiff_t>(std::min(most, m_found.size())));
    for (Found const& found : best) {
      for (Choice const& choice : neighbours(found.choice)) {
        auto const before = m_found.size();
        try_choice(choice);
        if (m_found.size() > before) time(m_found.back());
      }
    }
  }

  std::vector<Choice> neighbours(Choice const& choice) const {
    std::vector<Choice> result;
    auto const all = static_cast<int>(m_layers.size());
    for (int const layers : {choice.layers - 2, choice.layers - 1, choice.layers + 1}) {
      if (layers < 0 || layers > all) continue;
      auto near = choice;
      near.layers = layers;
      result.push_back(near);
    }
    for (int const moves : {choice.moves.count - 1, choice.moves.count + 1}) {
      if (moves < 0) continue;
      auto near = choice;
      near.moves.count = moves;
      result.push_back(near);
    }
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
  std::vector<std::size_t> m_layers, m_optimizer, m_parameters;  // that are open
  std::vector<Found> m_found;
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

std::vector<BlockPolicy> policies_within(OpenPlan const& open, Budgets const& budgets) {
  std::vector<BlockPolicy> result = {BlockPolicy::keep};
  auto const add = [&](BlockPolicy policy) {
    if (std::ranges::count(result, policy) == 0) result.push_back(policy);
  };
  for (BlockPlan const& block : open.plan.blocks) {
    add(block.policy);
    add(staying(block.policy));
  }
  if (std::ranges::count(open.layers, true) == 0) return result;
  for (int p = 0; p < kPolicies; ++p) {
    auto const policy = static_cast<BlockPolicy>(p);
    auto const tier = away_tier(policy);
    if (tier == Tier::host && budgets.host_bytes == 0) continue;
    if (tier == Tier::nvme && budgets.nvme_bytes == 0) continue;
    add(policy);
  }
  return result;
}

SearchResult search(Estimator const& estimator, OpenPlan const& open, Budgets const& budgets) {
  return Search(estimator, open, budgets).run(policies_within(open, budgets));
}

}  // namespace spillway
