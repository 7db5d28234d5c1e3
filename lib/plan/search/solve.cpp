#include "plan/search/solve.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "plan/proof/derive.hpp"
#include "plan/search/limits.hpp"
#include "plan/search/next_to.hpp"
#include "plan/search/trials.hpp"
#include "plan/time/simulate.hpp"

namespace spillway {

namespace {

// Plans are compiled as far as so many items go, for they take time: with one share of the budgets
// until something fits, and once it does. Those of few blocks are small, and estimates of them
// rough.
constexpr std::size_t kMostItems = 20'000, kEnoughItems = 10'000, kEnoughItemsOfFew = 60'000;
constexpr std::size_t kFewBlocks = 10;

// Of the device's budget, to search with in turn until something is found. Estimates are below what
// is needed, by little where that is much, but not always; with less and less comes what needs
// least.
constexpr double kShares[] = {0.999, 1.03, 0.9, 0.75, 0.5, 0};
constexpr int kSharesOfFew = 2;  // that are tried of a model of few blocks, whatever is found

// Of other tiers estimates are nearly exact.
Budgets with_share(Budgets budgets, double share) {
  auto const take = [](std::int64_t& bytes, double of_it) {
    bytes = static_cast<std::int64_t>(of_it * static_cast<double>(bytes));
  };
  take(budgets.device_bytes, share);
  take(budgets.host_bytes, std::clamp(share, 0.97, 1.0));
  take(budgets.nvme_bytes, std::clamp(share, 0.97, 1.0));
  return budgets;
}

BlockModel model_for(Graph const& train, OpenPlan const& open, Budgets const& budgets,
                     Machine const& machine, Shard shard, std::int64_t ranks) {
  auto model = block_model(train, machine, policies_within(open, budgets), ranks);
  apply(shard, model);
  return model;
}

class Solver {
 public:
  Solver(Job const& job, OpenPlan const& open, Estimator const& estimator)
      : m_job(job),
        m_open(open),
        m_estimator(estimator),
        m_few_blocks(job.train.blocks.size() <= kFewBlocks),
        m_trials(job) {}

  Solution run() {
    if (!try_as_asked()) try_shares();
    auto solution = m_trials.finish();
    solution.looked_at = m_looked_at;
    return solution;
  }

 private:
  // Nothing is done when nothing is needed: what is open stays on the device.
  bool try_as_asked() {
    constexpr double sure = 0.8;  // whatever estimates may be wrong by
    auto const peaks = m_estimator.peaks(m_open.plan);
    bool const moves = peaks[Tier::host] > 0 || peaks[Tier::nvme] > 0;
    auto const device_bytes = static_cast<double>(peaks[Tier::device]);
    if (moves || sure * device_bytes > static_cast<double>(m_job.budgets.device_bytes))
      return false;
    Candidate candidate;
    candidate.plan = m_open.plan;
    candidate.peaks = peaks;
    candidate.step_s = m_estimator.step_s(m_open.plan);
    m_trials.try_out(candidate);
    return m_trials.found();
  }

  void try_shares() {
    int tried = 0;
    for (double const share : kShares) {
      bool const of_few = m_few_blocks && tried < kSharesOfFew;
      if (m_trials.found() && !of_few) return;
      // What does not fit a larger share does not fit a smaller one; the last share, 0, is there to
      // find the plan that needs least.
      bool const in_vain = tried >= kSharesOfFew && !m_any_fits && share > 0;
      if (!in_vain) try_share(share);
      ++tried;
    }
  }

  void try_share(double share) {
    auto found = search(m_estimator, m_open, with_share(m_job.budgets, share));
    m_looked_at += found.looked_at;
    m_any_fits = !found.fitting.empty();
    m_items_before = m_trials.items();
    // What is unlikely to fit, seen how estimates are off, is mended at once and compiled last.
    try_best(std::move(found.fitting), true);
    try_best(std::exchange(m_unlikely, {}), false);
    if (m_trials.found() || m_trials.was_compiled(found.leanest.plan)) return;
    take_time(found.leanest, m_estimator);
    m_trials.try_out(found.leanest);
  }

  // Best first; what then does not fit is mended and takes its place among the others.
  void try_best(std::vector<Candidate> todo, bool only_likely) {
    while (!todo.empty() && may_go_on()) {
      auto const best = std::ranges::min_element(todo, better);
      auto const candidate = std::move(*best);
      todo.erase(best);
      if (m_trials.is_hopeless(candidate)) break;
      bool const waits = std::ranges::count(m_unlikely, candidate.plan, &Candidate::plan) > 0;
      if (waits || m_trials.is_done(candidate)) continue;
      std::ranges::move(try_out(candidate, only_likely), std::back_inserter(todo));
    }
  }

  // Returns what to try next.
  std::vector<Candidate> try_out(Candidate const& candidate, bool only_likely) {
    Trials::Result result{m_trials.expected_off(candidate.plan)};
    if (only_likely && !fits(candidate.peaks + result.off, m_job.budgets))
      m_unlikely.push_back(candidate);
    else
      result = m_trials.try_out(candidate);
    auto const next_to = [&](TierBytes const& off) {
      return NextTo(candidate, off, m_estimator, m_open, m_job.budgets);
    };
    if (!result.fits) return next_to(result.off).smaller();
    return result.leads && may_go_on() ? next_to({}).alike() : std::vector<Candidate>{};
  }

  bool may_go_on() const {
    auto const enough = m_few_blocks ? kEnoughItemsOfFew : kEnoughItems;
    return m_trials.items() - m_items_before <= (m_trials.found() ? enough : kMostItems);
  }

  Job const& m_job;
  OpenPlan const& m_open;
  Estimator const& m_estimator;
  bool m_few_blocks;
  Trials m_trials;
  int m_looked_at = 0;
  bool m_any_fits = true;          // by estimates, of what was searched last
  std::size_t m_items_before = 0;  // compiled with other shares
  std::vector<Candidate> m_unlikely;
};

}  // namespace

Solution solve(Graph const& train, Graph const* eval, PlanRequest const& request,
               Budgets const& budgets, Machine const& machine, std::int64_t micro_batches,
               std::int64_t ranks) {
  check_limits(train, micro_batches);
  auto const open = open_plan(train, request, machine.is_unified());
  auto const model = model_for(train, open, budgets, machine, Shard::none, ranks);
  Job const job{train, eval, machine, budgets, micro_batches, ranks};
  Estimator const estimator(model, machine, micro_batches);
  return Solver(job, open, estimator).run();
}

Outlook outlook(Graph const& train, PlanRequest const& request, Budgets const& budgets,
                Machine const& machine, std::int64_t micro_batches, Shard shard,
                std::int64_t ranks) {
  check_limits(train, micro_batches);
  auto const open = open_plan(train, request, machine.is_unified());
  auto const model = model_for(train, open, budgets, machine, shard, ranks);
  Estimator const estimator(model, machine, micro_batches);
  auto const peaks = estimator.peaks(open.plan);
  if (fits(peaks, budgets)) return {true, peaks, estimator.step_s(open.plan), true};
  auto const found = search(estimator, open, budgets);
  bool const fits = !found.fitting.empty();
  auto const& best = fits ? found.fitting.front() : found.leanest;
  return {fits, best.peaks, estimator.step_s(best.plan)};
}

double simulated_step_s(Graph const& train, Graph const* eval, Plan const& plan,
                        Machine const& machine, std::int64_t micro_batches, std::int64_t ranks) {
  auto programs = compile_without_waits(train, eval, plan, micro_batches, ranks);
  derive_waits(programs.train);
  return simulate(programs.train, machine).step_s;
}

}  // namespace spillway
