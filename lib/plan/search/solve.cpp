#include "plan/search/solve.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <stdexcept>
#include <utility>

#include "plan/proof/derive.hpp"
#include "plan/search/needs.hpp"
#include "plan/search/trials.hpp"
#include "plan/time/simulate.hpp"

namespace spillway {

namespace {

// One search compiles a second plan if the first does not fit, and no further plans once its plans
// have more than kMostItems items in all or, if a plan fits, more than kEnoughItems. If the model
// has few blocks, the second limit is kEnoughItemsOfFew, since compilation is fast then and
// estimates are rough.
constexpr std::size_t kMostItems = 20'000, kEnoughItems = 10'000, kEnoughItemsOfFew = 20'000;
// It goes on to kMostItemsIfFaster items with plans that are expected to take less than this share
// of the best plan's time, since estimates were then too short so far.
constexpr std::size_t kMostItemsIfFaster = 40'000;
constexpr double kFaster = 0.99;
// No more micro-batches walk together than such that a plan has about this many items, which take a
// hundred megabytes or two.
constexpr std::int64_t kMostItemsOfOne = 200'000;

// Searches multiply the device's budget by these shares, one after the other, until a plan fits.
// Most estimates are a little too low. Small shares lead to the plan that needs the fewest bytes.
constexpr double kShares[] = {0.999, 1.03, 0.9, 0.75, 0.5, 0};
constexpr int kSharesOfFew = 2;  // for few blocks this many are always tried

// Multiplies the device's budget by `share`. The budgets of other tiers shrink by 3 % at most and
// never grow, since estimates for these tiers are nearly exact.
Budgets with_share(Budgets budgets, double share) {
  for (Tier const tier : kTiersInOrder) {
    auto& bytes = budgets.*budget_of(tier);
    auto const of_tier = tier == Tier::device ? share : std::clamp(share, 0.97, 1.0);
    bytes = static_cast<std::int64_t>(of_tier * static_cast<double>(bytes));
  }
  return budgets;
}

OpenPlan open_for(PlanQuestion const& question) {
  auto open = open_plan(question.train, question.request, question.machine.is_unified());
  if (question.request.shard_ranks == ShardRanks::node) {
    open.plan.sharers = question.sharers_of_nodes();
    if (open.plan.sharers == 0)
      throw std::invalid_argument(
          "plan.shard_ranks: node: nodes do not all have as many ranks, with numbers that follow "
          "each other; give all or auto");
  }
  open.plan = for_ranks(std::move(open.plan), question.ranks);
  if (sharers_of(open.plan, question.ranks) == 1)
    for (OpenChunk& chunk : open.chunks) chunk.shard = false;
  return open;
}

// Has ranks share out that much wherever the user has left it open, and returns whether that is
// anywhere.
bool share_out_what_is_open(OpenPlan& open, Shard shard) {
  bool is_anywhere = false;
  for (int c = 0; c < std::ssize(open.chunks); ++c) {
    if (!open.chunks[c].shard) continue;
    open.plan.chunks[c].shard = shard;
    is_anywhere = true;
  }
  return is_anywhere;
}

BlockModel model_for(PlanQuestion const& question, OpenPlan const& open) {
  auto const policies = policies_within(open, question.budgets);
  std::vector sharers = {sharers_of(open.plan, question.ranks)};
  if (auto const of_nodes = question.open_sharers_of_nodes(); of_nodes > 0)
    sharers.push_back(of_nodes);
  return block_model(question.train, question.machine, policies, question.ranks, sharers);
}

bool uses_drive(Plan const& plan) {
  auto const spills = [](BlockPlan const& it) { return away_tier(it.policy) == Tier::nvme; };
  auto const moves = [](ChunkPlan const& it) {
    return it.parameters == Tier::nvme || it.gradients == Tier::nvme || it.optimizer == Tier::nvme;
  };
  return std::ranges::any_of(plan.blocks, spills) || std::ranges::any_of(plan.chunks, moves);
}

class Solver {
 public:
  Solver(PlanQuestion const& question, OpenPlan const& open, Estimator const& estimator)
      : m_budgets(question.budgets),
        m_open(open),
        m_estimator(estimator),
        m_few_blocks(has_few_blocks(question)),
        m_shares_all(question.may_gather()),
        m_sharers_of_nodes(question.open_sharers_of_nodes()),
        m_trials(question) {}

  Solution run() {
    auto const asked = m_open;
    m_open.group = false;
    if (try_as_asked()) {
      if (share_out(Shard::gradients)) try_as_asked();
      if (m_sharers_of_nodes > 0 && shard_ranks(m_open.plan)) {
        m_open.plan.sharers = m_sharers_of_nodes;
        try_as_asked();
      }
    } else {
      try_moves(asked.group);
      if (may_sum_on_drive(asked)) try_sums_on_drive(asked);
      if (m_trials.found() && uses_drive(m_trials.best())) try_without_drive(asked);
      if (exchanges_take_room()) try_exchanges_in_turn(asked);
    }
    auto solution = m_trials.finish();
    solution.estimated = m_estimated;
    return solution;
  }

 private:
  // Tries the plan that has everything on the device, and returns whether it was found to fit.
  bool try_as_asked() {
    constexpr double sure = 0.8;  // plans need at least this share of their estimated bytes
    auto const peaks = m_estimator.peaks(m_open.plan);
    bool const moves = peaks[Tier::host] > 0 || peaks[Tier::nvme] > 0;
    auto const device_bytes = static_cast<double>(peaks[Tier::device]);
    if (moves || sure * device_bytes > static_cast<double>(m_budgets.device_bytes)) return false;
    auto const step_s = m_estimator.step_s(m_open.plan);
    m_trials.try_out({.plan = m_open.plan, .strategy = {}, .peaks = peaks, .step_s = step_s});
    return m_trials.found();
  }

  // Tries plans that move state off the device, by what ranks share out.
  void try_moves(bool may_group) {
    // Ranks that share out within their nodes keep less than ranks that share out nothing, and send
    // less over the network. So the search asks about them instead, and takes no longer for several
    // nodes than for one.
    bool const may_share_out = std::ranges::any_of(m_open.chunks, &OpenChunk::shard);
    if (m_sharers_of_nodes == 0 || !may_share_out) try_shares();
    for (Shard const shard : {Shard::gradients, Shard::all}) {
      if (share_out(shard)) try_shares();
    }
    // Updates on the device need no room on the host for sums and slices.
    if (!m_trials.found() && update_on_device()) try_shares();
    if (may_group) try_groups();
    if (m_trials.found() && shard_ranks(m_trials.best()) && m_sharers_of_nodes > 0) {
      share_out(level_of(m_trials.best()));
      m_open.plan.sharers = m_sharers_of_nodes;
      try_shares();
    }
  }

  bool may_sum_on_drive(OpenPlan const& asked) const {
    return m_budgets.nvme_bytes > 0 && std::ranges::any_of(asked.chunks, &OpenChunk::gradients);
  }

  // Leaves open again what was, where ranks share out as much as in the best plan.
  void begin_again(OpenPlan const& asked) {
    auto const level = level_of(m_trials.best());
    auto const most_group = std::exchange(m_open, asked).most_group;
    m_open.most_group = most_group;
    share_out(level);
  }

  // Also puts gradients on the drive, where no plan fits without that or where it may relieve the
  // best plan: where that has optimizer state on the drive. Then ranks share out as much as in that
  // plan, and as many micro-batches walk together, or more.
  void try_sums_on_drive(OpenPlan const& asked) {
    if (!m_trials.found()) {
      m_open = asked;
      m_open.sums_on_drive = true;
      m_open.group = false;
      return try_moves(asked.group);
    }
    auto const& best = m_trials.best();
    if (std::ranges::count(best.chunks, Tier::nvme, &ChunkPlan::optimizer) == 0) return;
    begin_again(asked);
    m_open.sums_on_drive = true;
    m_open.plan.group = best.group;
    m_open.plan.sharers = best.sharers;
    try_shares();
  }

  bool share_out(Shard shard) {
    if (shard == Shard::all && !m_shares_all) return false;
    return share_out_what_is_open(m_open, shard);
  }

  // A drive should make no step longer, so the search also asks what would be without it, where
  // ranks share out as much as in the best plan.
  void try_without_drive(OpenPlan const& asked) {
    begin_again(asked);
    auto const nvme_bytes = std::exchange(m_budgets.nvme_bytes, 0);
    try_shares();
    m_budgets.nvme_bytes = nvme_bytes;
  }

  // Says whether exchanges that overlap may take host memory that plans could need for other
  // things.
  bool exchanges_take_room() const {
    if (m_estimator.model().ranks == 1 || m_open.plan.unified) return false;
    constexpr double much = 0.9;
    return !m_trials.found() || static_cast<double>(m_trials.peaks_of_best()[Tier::host]) >
                                    much * static_cast<double>(m_budgets.host_bytes);
  }

  void try_exchanges_in_turn(OpenPlan asked) {
    asked.plan.exchanges_overlap = false;
    if (m_trials.found()) {
      begin_again(asked);
      return try_shares();
    }
    m_open = asked;
    m_open.group = false;
    try_moves(asked.group);
    if (!m_trials.found() && may_sum_on_drive(asked)) try_sums_on_drive(asked);
  }

  // Has all updates that are open run on the device, and returns whether there are any.
  bool update_on_device() {
    bool is_any = false;
    for (int c = 0; c < std::ssize(m_open.chunks); ++c) {
      if (!std::exchange(m_open.chunks[c].update, false)) continue;
      m_open.plan.chunks[c].update = Tier::device;
      is_any = true;
    }
    return is_any;
  }

  void try_shares() {
    auto const before_s = m_trials.best_s();
    try_fixed_shares();
    if (m_trials.best_s() < before_s && !m_few_blocks) try_measured_share();
  }

  // Estimates that count too many bytes leave room unused. If they did for the best plan, searches
  // once more for plans that would use it.
  void try_measured_share() {
    constexpr double least = 1.005, most = 1.1, nearly_full = 0.9;
    auto const exact = static_cast<double>(m_trials.peaks_of_best()[Tier::device]);
    auto const off = static_cast<double>(m_trials.expected_off(m_trials.best())[Tier::device]);
    auto const share = std::min(most, (exact - off) / exact);
    if (share > least && exact - off > nearly_full * static_cast<double>(m_budgets.device_bytes))
      try_share(share);
  }

  void try_fixed_shares() {
    int tried = 0;
    bool const was_found = m_trials.found();
    m_any_fits = true;
    for (double const share : kShares) {
      bool const of_few = m_few_blocks && tried < kSharesOfFew;
      bool const is_first = was_found && tried == 0;
      if (m_trials.found() && !of_few && !is_first) return;
      // If no plan fits a larger share of the budget, none fits a smaller one. The share 0 is tried
      // even then, because it leads to the plan that needs the fewest bytes.
      bool const in_vain = tried >= kSharesOfFew && !m_any_fits && share > 0;
      if (!in_vain) try_share(share);
      ++tried;
    }
  }

  // Tries micro-batches that walk together only after those that do not, so that groups never make
  // a step longer. They need no fewer bytes unless all walk together, which keeps no sums on the
  // device and, where ranks share sums out, no gradient whole.
  void try_groups() {
    auto const all = m_estimator.micro_batches();
    if (all == 1) return;
    m_open.most_group = std::min(m_open.most_group, m_trials.most_group(kMostItemsOfOne));
    if (m_open.most_group < 2) return;
    m_open.group = true;
    if (m_trials.found()) {
      m_open.plan.group = 2;
      auto const best = level_of(m_trials.best());
      for (Shard const shard : {Shard::gradients, Shard::all})
        if (shard != best && share_out(shard)) try_shares();
      share_out(best);
      try_shares();
    } else if (all <= m_open.most_group) {
      share_out(Shard::all);
      m_open.plan.group = all;
      try_shares();
    }
  }

  // Returns what ranks share out in a plan of this search; some chunks may be persistent.
  Shard level_of(Plan const& plan) const {
    auto level = Shard::none;
    for (int c = 0; c < std::ssize(m_open.chunks); ++c) {
      if (m_open.chunks[c].shard) level = std::max(level, plan.chunks[c].shard);
    }
    return level;
  }

  // Searches, and again if that was misled: with what is known then of estimates of time and bytes
  // it may find something else.
  void try_share(double share) {
    constexpr int most_searches = 3;
    auto budgets = with_share(m_budgets, share);
    for (int i = 0; i < most_searches; ++i) {
      auto const best = try_once(budgets);
      if (!best || !was_misled_by(*best)) return;
      auto missing = m_trials.expected_off(best->plan);
      for (auto& bytes : missing) bytes = std::max<std::int64_t>(0, bytes);
      budgets = corrected(budgets, missing);
    }
  }

  // Says whether all plans that were compiled take longer than the best candidate was expected to.
  bool was_misled_by(Candidate const& best) const {
    constexpr double longer = 1.02;
    return m_trials.found() && m_trials.best_s() > longer * best.expected_s();
  }

  // Searches within the budgets, and tries what is found. Returns what was expected to be best.
  std::optional<Candidate> try_once(Budgets const& budgets) {
    auto const errors = m_trials.errors();
    auto found = search(m_estimator, m_open, budgets, errors, m_trials.hope_s());
    m_estimated += found.estimated;
    m_any_fits = !found.fitting.empty();
    m_items_before = m_trials.items();
    m_compiled_before = m_trials.compiled();
    m_misses = 0;
    std::optional<Candidate> best;
    if (m_any_fits) best = found.fitting.front();
    // If errors of earlier estimates suggest that a candidate does not fit, smaller candidates are
    // tried first, and the candidate itself is compiled last.
    try_best(std::move(found.fitting), true);
    try_best(std::exchange(m_unlikely, {}), false);
    if (m_trials.found() || m_trials.was_compiled(found.leanest.plan)) return best;
    take_time(found.leanest, m_estimator);
    m_trials.try_out(found.leanest);
    return best;
  }

  // Tries candidates, the best one first, and replaces one that does not fit by smaller ones.
  void try_best(std::vector<Candidate> todo, bool only_likely) {
    while (!todo.empty()) {
      auto const best = std::ranges::min_element(
          todo, {}, [&](Candidate const& it) { return rank(it, m_trials.expected_s(it)); });
      if (!may_go_on(m_trials.expected_s(*best))) break;
      auto const candidate = std::move(*best);
      todo.erase(best);
      if (m_trials.is_hopeless(candidate)) break;
      bool const waits = std::ranges::count(m_unlikely, candidate.plan, &Candidate::plan) > 0;
      if (waits || m_trials.is_done(candidate)) continue;
      std::ranges::move(try_out(candidate, only_likely), std::back_inserter(todo));
    }
  }

  // Tries the candidate, and returns other candidates that should be tried next.
  std::vector<Candidate> try_out(Candidate const& candidate, bool only_likely) {
    Trials::Result result{m_trials.expected_off(candidate.plan)};
    if (only_likely && !fits(candidate.peaks + result.off, m_budgets)) {
      m_unlikely.push_back(candidate);
    } else {
      result = m_trials.try_out(candidate);
      m_misses += result.fits ? 0 : 1;
    }
    if (result.fits && !(result.leads && may_go_on(m_trials.best_s()))) return {};
    StrategySpace const space(m_estimator, m_open,
                              corrected(m_budgets, result.fits ? TierBytes{} : result.off));
    return result.fits ? neighbours(candidate, space) : smaller(candidate, space);
  }

  // Says whether another plan may be compiled, which is expected to take so long.
  bool may_go_on(double expected_s) const {
    if (m_misses == m_trials.compiled() - m_compiled_before && m_misses < 2) return true;
    auto enough = m_few_blocks ? kEnoughItemsOfFew : kEnoughItems;
    if (expected_s < kFaster * m_trials.best_s()) enough = std::max(enough, kMostItemsIfFaster);
    return m_trials.items() - m_items_before <= (m_trials.found() ? enough : kMostItems);
  }

  Budgets m_budgets;
  OpenPlan m_open;
  Estimator const& m_estimator;
  bool m_few_blocks, m_shares_all;  // m_shares_all: whether ranks may share out parameters
  // So many ranks share out in plans within nodes; 0 means that the search must try no such plans.
  std::int64_t m_sharers_of_nodes;
  Trials m_trials;
  int m_estimated = 0;
  bool m_any_fits = true;          // true if the last search found a plan that fits
  std::size_t m_items_before = 0;  // items of the plans that earlier searches compiled
  int m_compiled_before = 0;       // and how many they were
  int m_misses = 0;                // how many plans of this search did not fit
  std::vector<Candidate> m_unlikely;
};

}  // namespace

std::int64_t PlanQuestion::sharers_of_nodes() const {
  auto const on_node = std::min(ranks, machine.node_ranks);
  return nodes_alike && ranks % on_node == 0 ? on_node : 0;
}

std::int64_t PlanQuestion::open_sharers_of_nodes() const {
  auto const sharers = sharers_of_nodes();
  return !request.shard_ranks && sharers > 1 && sharers < ranks ? sharers : 0;
}

Solution solve(PlanQuestion const& question) {
  check_limits(question.train, question.micro_batches);
  check_uneven(question.train, question.request.shard, question.fewer);
  auto const open = open_for(question);
  auto const model = model_for(question, open);
  return Solver(question, open, {model, question.machine, question.micro_batches}).run();
}

Outlook outlook(PlanQuestion const& question) {
  check_limits(question.train, question.micro_batches);
  check_uneven(question.train, question.request.shard, question.fewer);
  auto open = open_for(question);
  open.group = false;
  auto const model = model_for(question, open);
  Estimator const estimator(model, question.machine, question.micro_batches);
  auto const peaks = estimator.peaks(open.plan);
  if (fits(peaks, question.budgets))
    return {true, peaks, estimator.step_s(open.plan), true, open.plan};
  auto found = search(estimator, open, question.budgets);
  auto const most_shared = question.may_gather() ? Shard::all : Shard::gradients;
  if (found.fitting.empty() && share_out_what_is_open(open, most_shared))
    found = search(estimator, open, question.budgets);
  open.sums_on_drive = question.budgets.nvme_bytes > 0;
  if (found.fitting.empty() && open.sums_on_drive)
    found = search(estimator, open, question.budgets);
  bool const fits = !found.fitting.empty();
  auto const& best = fits ? found.fitting.front() : found.leanest;
  return {fits, best.peaks, estimator.step_s(best.plan), false, best.plan};
}

std::vector<PlanEstimate> estimates(PlanQuestion const& question, std::vector<Plan> const& plans) {
  auto const open = open_for(question);
  auto const model = model_for(question, open);
  Estimator const estimator(model, question.machine, question.micro_batches);
  std::vector<PlanEstimate> result;
  for (Plan const& plan : plans) result.push_back({estimator.peaks(plan), estimator.step_s(plan)});
  return result;
}

double simulated_step_s(PlanQuestion const& question, Plan const& plan) {
  return simulated_step(question, plan).step_s;
}

}  // namespace spillway
