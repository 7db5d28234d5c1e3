#include "plan/search/searches.hpp"

#include <algorithm>
#include <utility>

#include "plan/search/budget_search.hpp"
#include "plan/search/late_acceptance.hpp"
#include "plan/search/near_best.hpp"
#include "plan/search/off_drive.hpp"
#include "plan/search/open_question.hpp"
#include "plan/search/starts.hpp"
#include "plan/search/trials.hpp"

namespace spillway {
namespace {

// No more micro-batches walk together than such that a plan has about this many items, which take a
// hundred megabytes or two.
constexpr std::int64_t kMostItemsOfOne = 200'000;

// Returns what is open if one key is decided.
std::vector<OpenPlan> starts(PlanQuestion question) {
  std::vector<OpenPlan> result;
  for (PlanRequest& request : with_one_key_decided(question)) {
    question.request = std::move(request);
    result.push_back(open_for(question));
  }
  return result;
}

bool uses_drive(Plan const& plan) {
  auto const spills = [](BlockPlan const& it) { return away_tier(it.policy) == Tier::nvme; };
  auto const moves = [](ChunkPlan const& it) {
    return it.parameters == Tier::nvme || it.gradients == Tier::nvme || it.optimizer == Tier::nvme;
  };
  return std::ranges::any_of(plan.blocks, spills) || std::ranges::any_of(plan.chunks, moves);
}

class Searches {
 public:
  Searches(PlanQuestion const& question, OpenPlan const& open, Estimator const& estimator)
      : m_question(question),
        m_budgets(question.budgets),
        m_open(open),
        m_estimator(estimator),
        m_sharers_of_nodes(question.open_sharers_of_nodes()),
        m_trials(question),
        m_search(estimator, m_trials, has_few_blocks(question)),
        m_near(question, estimator, m_trials) {}

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
      if (may_be_better_without_drive()) try_without_drive(asked);
      if (exchanges_take_room()) try_exchanges_in_turn(asked);
      if (m_trials.found() && has_few_layers()) {
        auto const others = starts(m_question);
        auto const estimated = m_search.estimated();
        try_other_starts(others, 2 * estimated);
        try_half_of(Tier::device, asked);
        try_half_of(Tier::host, asked);
        walk(asked, others);
        m_near.run(asked, estimated);
      }
      m_off_drive = try_off_drive(m_question, asked, m_estimator, m_trials);
    }
    auto solution = m_trials.finish();
    solution.estimated = m_search.estimated() + m_walked + m_near.estimated() + m_off_drive;
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

  // Searches from the beginning, with what is open there.
  void try_all_moves(OpenPlan const& open) {
    m_open = open;
    m_open.group = false;
    try_moves(open.group);
  }

  // Tries plans that move state off the device, by what ranks share out.
  void try_moves(bool may_group) {
    // Ranks that share out within their nodes keep less than ranks that share out nothing, and send
    // less over the network. So the search asks about them instead, and takes no longer for several
    // nodes than for one.
    bool const may_share_out = std::ranges::any_of(m_open.chunks, &OpenChunk::shard);
    if (m_sharers_of_nodes == 0 || !may_share_out) try_open();
    for (Shard const shard : {Shard::gradients, Shard::all}) {
      if (share_out(shard)) try_open();
    }
    if (!m_trials.found()) try_updates_on_device([&] { try_open(); });
    if (may_group) try_groups();
    if (may_group && !m_trials.found()) try_updates_on_device([&] { try_groups(); });
    if (m_trials.found() && shard_ranks(m_trials.best()) && m_sharers_of_nodes > 0) {
      share_out(level_of(m_trials.best()));
      m_open.plan.sharers = m_sharers_of_nodes;
      try_open();
    }
  }

  // Searches with what updates are open on the device: they need no room on the host for sums and
  // slices. Leaves them open again.
  template <class Search>
  void try_updates_on_device(Search const& search) {
    auto const open = m_open;
    if (update_on_device()) search();
    m_open = open;
  }

  bool may_sum_on_drive(OpenPlan const& asked) const {
    return m_budgets.nvme_bytes > 0 && std::ranges::any_of(asked.chunks, &OpenChunk::gradients);
  }

  // Leaves open again what was, where ranks share out as much as in the best plan, and as many.
  void begin_again(OpenPlan const& asked) {
    auto const level = level_of(m_trials.best());
    auto const most_group = std::exchange(m_open, asked).most_group;
    m_open.most_group = most_group;
    m_open.plan.sharers = m_trials.best().sharers;
    share_out(level);
  }

  // Does the same where exchanges also overlap as in the best plan.
  void begin_like_best(OpenPlan const& asked) {
    begin_again(asked);
    m_open.plan.exchanges_overlap = m_trials.best().exchanges_overlap;
  }

  // Searches where ranks share out as in the best plan or, if there is none, from the beginning.
  void try_again(OpenPlan const& asked) {
    if (!m_trials.found()) return try_all_moves(asked);
    begin_again(asked);
    try_open();
  }

  // Also puts gradients on the drive, where no plan fits without that or where it may relieve the
  // best plan: where that has optimizer state on the drive. Then ranks share out as much as in that
  // plan, and as many micro-batches walk together, or more.
  void try_sums_on_drive(OpenPlan const& asked) {
    if (!m_trials.found()) {
      auto open = asked;
      open.sums_on_drive = true;
      return try_all_moves(open);
    }
    auto const& best = m_trials.best();
    if (std::ranges::count(best.chunks, Tier::nvme, &ChunkPlan::optimizer) == 0) return;
    begin_again(asked);
    m_open.sums_on_drive = true;
    m_open.plan.group = best.group;
    try_open();
  }

  bool share_out(Shard shard) {
    if (shard == Shard::all && !m_question.may_gather()) return false;
    return share_out_what_is_open(m_open, shard);
  }

  // A plan that leaves the drive alone may be missed too: state that could go there leaves less
  // room on the host to sums of gradients, by which the host updates.
  bool may_be_better_without_drive() const {
    if (m_budgets.nvme_bytes == 0) return false;
    return !m_trials.found() || has_few_layers() || uses_drive(m_trials.best());
  }

  // A drive should make no step longer, so the search also asks what would be without it.
  void try_without_drive(OpenPlan const& asked) {
    auto const nvme_bytes = std::exchange(m_budgets.nvme_bytes, 0);
    try_again(asked);
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
    try_again(asked);
    if (!m_trials.found() && may_sum_on_drive(asked)) try_sums_on_drive(asked);
  }

  // Searches of more layers than that take long.
  bool has_few_layers() const {
    constexpr std::size_t few = 66;  // blocks, of which two or three are no layers
    return m_open.layers.size() <= few;
  }

  // What a search finds depends on where it begins, so it also begins with one key decided, until
  // so many plans were estimated in all.
  void try_other_starts(std::vector<OpenPlan> const& starts, int most_estimated) {
    for (OpenPlan const& start : starts) {
      if (m_search.estimated() > most_estimated) return;
      begin_like_best(start);
      m_search.run_again(m_open, m_budgets);
    }
  }

  // More memory should make no step longer, so the search also asks what would be with less of it.
  void try_half_of(Tier tier, OpenPlan const& asked) {
    begin_like_best(asked);
    auto less = m_budgets;
    less.*budget_of(tier) /= 2;
    m_search.run_again(m_open, less);
  }

  // Walks by estimates from the best plan, and from what it becomes where starts decide one key.
  void walk(OpenPlan const& asked, std::vector<OpenPlan> const& starts) {
    LateAcceptance walks(m_question, asked, m_estimator, m_trials);
    walks.run(starts);
    m_walked = walks.estimated();
  }

  void try_open() { m_search.run(m_open, m_budgets); }

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
        if (shard != best && share_out(shard)) try_open();
      share_out(best);
      try_open();
    } else if (all <= m_open.most_group) {
      share_out(Shard::all);
      m_open.plan.group = all;
      try_open();
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

  PlanQuestion const& m_question;
  Budgets m_budgets;
  OpenPlan m_open;
  Estimator const& m_estimator;
  // So many ranks share out in plans within nodes; 0 means that the search must try no such plans.
  std::int64_t m_sharers_of_nodes;
  Trials m_trials;
  BudgetSearch m_search;
  NearBest m_near;
  // So many plans were estimated on walks, and with less on the drive.
  int m_walked = 0, m_off_drive = 0;
};

}  // namespace

Solution search_all_ways(PlanQuestion const& question, OpenPlan const& open,
                         Estimator const& estimator) {
  return Searches(question, open, estimator).run();
}

}  // namespace spillway
