#include "plan/solve.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "plan/next_to.hpp"
#include "plan/trials.hpp"

namespace spillway {

namespace {

// Plans are compiled as far as so many items go, for they take time: until one fits, and in all.
// Those of few blocks are small, and estimates of them rough.
constexpr std::size_t kEnoughItems = 10'000, kEnoughItemsOfFew = 40'000, kMostItems = 20'000;
constexpr std::size_t kFewBlocks = 10;

// Of the budgets, to search with in turn until something is found. Estimates are below what is
// needed, by little where that is much, but not always; with less and less comes what needs least.
constexpr double kShares[] = {0.999, 1.03, 0.9, 0.75, 0.5, 0};
constexpr int kSharesOfFew = 2;  // are tried of few blocks, whatever is found

Budgets with_share(Budgets budgets, double share) {
  for (auto* const bytes : {&budgets.device_bytes, &budgets.host_bytes, &budgets.nvme_bytes})
    *bytes = static_cast<std::int64_t>(share * static_cast<double>(*bytes));
  return budgets;
}

TierBytes sum(TierBytes a, TierBytes const& b) {
  for (std::size_t tier = 0; tier < kTiers; ++tier) a[tier] += b[tier];
  return a;
}

BlockModel model_for(Graph const& train, OpenPlan const& open, Budgets const& budgets,
                     Machine const& machine, Shard shard, std::int64_t ranks) {
  auto model = block_model(train, machine, policies_within(open, budgets));
  apply(shard, ranks, model);
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
    int tried = needs_nothing() ? kSharesOfFew : 0;
    for (double const share : kShares) {
      if (m_trials.found() && (tried >= kSharesOfFew || !m_few_blocks)) break;
      try_share(share);
      ++tried;
    }
    auto solution = m_trials.finish();
    solution.looked_at = m_looked_at;
    return solution;
  }

 private:
  // Nothing is done when nothing is needed.
  bool needs_nothing() {
    constexpr std::int64_t sure = 2;  // whatever estimates may be wrong by
    auto const estimated = m_estimator.peaks(m_open.plan)[index(Tier::device)];
    return estimated / sure <= m_job.budgets.device_bytes && m_trials.stays_on_device(m_open.plan);
  }

  void try_share(double share) {
    auto found = search(m_estimator, m_open, with_share(m_job.budgets, share));
    m_looked_at += found.looked_at;
    m_items = m_trials.items();
    // What is unlikely to fit, seen how estimates are off, is mended at once and compiled last.
    compile_best(found.fitting, true);
    compile_best(std::exchange(m_unlikely, {}), false);
    if (!m_trials.found() && !m_trials.was_compiled(found.leanest.plan))
      m_trials.compile(found.leanest);
  }

  // Best first; what then does not fit is mended and takes its place among the others.
  void compile_best(std::vector<Candidate> todo, bool only_likely) {
    while (!todo.empty() && may_go_on()) {
      auto const best = std::ranges::min_element(todo, better);
      auto const candidate = std::move(*best);
      todo.erase(best);
      if (m_trials.is_hopeless(candidate)) break;
      if (m_trials.is_done(candidate)) continue;
      std::ranges::move(try_out(candidate, only_likely), std::back_inserter(todo));
    }
  }

  // Returns what to try next.
  std::vector<Candidate> try_out(Candidate const& candidate, bool only_likely) {
    auto const likely = sum(candidate.peaks, m_trials.expected_off(candidate.plan));
    bool const compiles = !only_likely || fits(likely, m_job.budgets);
    if (!compiles) m_unlikely.push_back(candidate);
    auto const [peaks, leads] = compiles ? m_trials.compile(candidate) : Trials::Result{likely};
    auto const next_to = [&](TierBytes const& assumed) {
      return NextTo(candidate, assumed, m_estimator, m_open, m_job.budgets);
    };
    if (!fits(peaks, m_job.budgets)) return next_to(peaks).smaller();
    return leads && may_go_on() ? next_to(candidate.peaks).alike() : std::vector<Candidate>{};
  }

  bool may_go_on() const {
    auto const enough = m_few_blocks ? kEnoughItemsOfFew : kEnoughItems;
    return m_trials.items() - m_items <= (m_trials.found() ? enough : kMostItems);
  }

  Job const& m_job;
  OpenPlan const& m_open;
  Estimator const& m_estimator;
  bool m_few_blocks;
  Trials m_trials;
  int m_looked_at = 0;
  std::size_t m_items = 0;  // compiled before
  std::vector<Candidate> m_unlikely;
};

}  // namespace

Solution solve(Graph const& train, Graph const* eval, PlanRequest const& request,
               Budgets const& budgets, Machine const& machine, std::int64_t micro_batches,
               std::int64_t ranks) {
  auto const open = open_plan(train, request, machine.is_unified());
  auto const model = model_for(train, open, budgets, machine, Shard::none, ranks);
  Job const job{train, eval, machine, budgets, micro_batches, ranks};
  Estimator const estimator(model, machine, micro_batches);
  return Solver(job, open, estimator).run();
}

Outlook outlook(Graph const& train, PlanRequest const& request, Budgets const& budgets,
                Machine const& machine, std::int64_t micro_batches, Shard shard,
                std::int64_t ranks) {
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
  auto programs = place(train, eval, plan, micro_batches, ranks);
  derive_waits(programs.train);
  return simulate(programs.train, machine).step_s;
}

}  // namespace spillway
