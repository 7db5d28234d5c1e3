#include "plan/solve.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <tuple>
#include <utility>

#include "base/math.hpp"
#include "base/units.hpp"
#include "plan/search.hpp"

namespace spillway {

namespace {

// Plans are compiled as far as so many items go, for they take time: until one fits, and in all.
// Those of few blocks are small, and estimates of them rough.
constexpr std::size_t kEnoughItems = 10'000, kEnoughItemsOfFew = 40'000, kMostItems = 20'000;

// With which the search begins. Estimates may be above what is needed as well as below it: first
// what might fit. Of many bytes they are nearly exact, and large plans take long to compile: first
// what does.
Budgets first_budgets(Budgets budgets) {
  constexpr std::int64_t many_bytes = std::int64_t{8} << 30;
  for (auto* const bytes : {&budgets.device_bytes, &budgets.host_bytes, &budgets.nvme_bytes})
    *bytes += *bytes < many_bytes ? *bytes / 20 : -*bytes / 1000;
  return budgets;
}

TierBytes sum(TierBytes a, TierBytes const& b) {
  for (std::size_t tier = 0; tier < kTiers; ++tier) a[tier] += b[tier];
  return a;
}

TierBytes difference(TierBytes a, TierBytes const& b) {
  for (std::size_t tier = 0; tier < kTiers; ++tier) a[tier] -= b[tier];
  return a;
}

TierBytes least(std::optional<TierBytes> const& before, TierBytes a) {
  for (std::size_t tier = 0; tier < kTiers && before; ++tier)
    a[tier] = std::min(a[tier], (*before)[tier]);
  return a;
}

class Solver {
 public:
  Solver(Graph const& train, Graph const* eval, Machine const& machine, Budgets const& budgets,
         std::int64_t micro_batches, std::int64_t ranks)
      : m_train(train),
        m_eval(eval),
        m_machine(machine),
        m_budgets(budgets),
        m_micro_batches(micro_batches),
        m_ranks(ranks) {}

  // What fits by estimates is compiled, best first; what then does not fit is mended and takes its
  // place among the others.
  Solution run(OpenPlan const& open) {
    auto model = block_model(m_train, m_machine, policies_within(open, m_budgets));
    apply(Shard::none, m_ranks, model);
    Estimator const estimator(model, m_machine, m_micro_batches);
    if (stays_on_device(open, estimator)) return std::move(m_solution);
    Plan leanest;
    for (auto const& budgets : {first_budgets(m_budgets), m_budgets}) {
      auto found = search(estimator, open, budgets);
      m_solution.looked_at += found.looked_at;
      leanest = std::move(found.leanest.plan);
      compile_best(std::move(found.fitting), estimator, open);
      if (m_solution.choice) break;
    }
    bool const was_tried = std::ranges::count(m_done, leanest) > 0;
    if (!m_solution.choice && !was_tried) try_last(leanest);
    if (m_solution.choice) prove_choice();
    return std::move(m_solution);
  }

 private:
  // Nothing is done when nothing is needed.
  bool stays_on_device(OpenPlan const& open, Estimator const& estimator) {
    constexpr std::int64_t sure = 2;  // whatever estimates may be wrong by
    auto const estimated = estimator.peaks(open.plan)[index(Tier::device)];
    if (estimated / sure > m_budgets.device_bytes) return false;
    auto compiled = placed(open.plan);
    auto const& peaks = compiled.train.peak_bytes;
    bool const moves = peaks[index(Tier::host)] > 0 || peaks[index(Tier::nvme)] > 0;
    if (moves || !fits(peaks, m_budgets)) return false;
    consider(open.plan, std::move(compiled));
    prove_choice();
    return true;
  }

  // Its training Program has been simulated, so its waits are there.
  void prove_choice() {
    auto& compiled = m_solution.choice->compiled;
    if (compiled.eval) derive_waits(*compiled.eval);
    prove(compiled);
  }

  Compiled placed(Plan const& plan) {
    ++m_solution.compiled;
    return place(m_train, m_eval, plan, m_micro_batches, m_ranks);
  }

  // What is unlikely to fit, seen how estimates are off, is mended at once and compiled last.
  void compile_best(std::vector<Candidate> todo, Estimator const& estimator, OpenPlan const& open) {
    std::optional<TierBytes> off;  // exact bytes less estimated ones: the least so far
    std::vector<Candidate> unlikely;
    for (bool const last : {false, true}) {
      while (!todo.empty() && m_items <= (m_solution.choice ? enough_items() : kMostItems)) {
        auto const best = std::ranges::min_element(todo, better);
        auto const candidate = std::move(*best);
        todo.erase(best);
        // What was estimated too short must not hide what was not.
        auto const best_s = std::max(m_estimated_s, m_best_s);
        if (m_solution.choice && candidate.step_s > kHopeless * best_s) break;
        if (is_done(candidate)) continue;
        auto const expected = off ? sum(candidate.peaks, *off) : candidate.peaks;
        bool const compiles = last || !off || fits(expected, m_budgets);
        if (!compiles) unlikely.push_back(candidate);
        auto const [peaks, leads] = compiles ? compile(candidate) : Compilation{expected};
        if (compiles) off = least(off, difference(peaks, candidate.peaks));
        NextTo next_to(candidate, peaks, estimator, open, m_budgets);
        auto next = !fits(peaks, m_budgets) ? next_to.smaller()
                    : leads                 ? next_to.alike()
                                            : std::vector<Candidate>{};
        std::ranges::move(next, std::back_inserter(todo));
      }
      todo = std::move(unlikely);
    }
  }

  std::size_t enough_items() const {
    constexpr std::size_t few_blocks = 10;
    return m_train.blocks.size() <= few_blocks ? kEnoughItemsOfFew : kEnoughItems;
  }

  // Of what fits with the same activations, one that is no longer by estimates is enough.
  bool is_done(Candidate const& candidate) const {
    auto const stands_for_it = [&](Candidate const& other) {
      return other.plan.blocks == candidate.plan.blocks && other.step_s <= candidate.step_s;
    };
    return std::ranges::any_of(m_fitting, stands_for_it) ||
           std::ranges::count(m_done, candidate.plan) > 0;
  }

  struct Compilation {
    TierBytes peaks;
    bool leads = false;  // as the choice or the fastest, and more may be compiled
  };

  Compilation compile(Candidate const& candidate) {
    m_done.push_back(candidate.plan);
    auto compiled = placed(candidate.plan);
    m_items += compiled.train.items.size();
    auto const peaks = compiled.train.peak_bytes;
    if (!fits(peaks, m_budgets)) {
      note_need(need_of(candidate.plan, compiled));
      return {peaks};
    }
    auto const before_s = m_best_s;
    if (!consider(candidate.plan, std::move(compiled))) return {peaks};
    m_estimated_s = std::min(m_estimated_s, candidate.step_s);
    m_fitting.push_back(candidate);
    bool const leads = m_best_s < before_s || m_solution.choice->plan == candidate.plan;
    return {peaks, leads && m_items <= enough_items()};
  }

  // False: it writes too much to the drive.
  bool consider(Plan const& plan, Compiled compiled) {
    auto const simulation = simulated(compiled.train);
    auto const excess = excess_bytes_per_s(simulation);
    if (excess > 0)
      note_need({plan, compiled.train.peak_bytes, excess});
    else
      choose(plan, std::move(compiled), simulation);
    return excess == 0;
  }

  Simulation simulated(Program& program) const {
    derive_waits(program);
    return simulate(program, m_machine);
  }

  // What is written to the drive, if that is too much.
  double excess_bytes_per_s(Simulation const& simulation) const {
    auto const written = static_cast<double>(simulation.bytes[index(Lane::nvme_write)]);
    double const rate = written > 0 ? written / simulation.step_s : 0;
    return rate > m_budgets.nvme_bytes_per_s ? rate : 0;
  }

  // Of a Plan that does not fit, and is simulated only where that matters.
  Solution::Need need_of(Plan const& plan, Compiled& compiled) const {
    bool const limited = !std::isinf(m_budgets.nvme_bytes_per_s);
    return {plan, compiled.train.peak_bytes,
            limited ? excess_bytes_per_s(simulated(compiled.train)) : 0};
  }

  void choose(Plan const& plan, Compiled compiled, Simulation const& simulation) {
    auto const moved = between_tiers(simulation.bytes);
    auto& choice = m_solution.choice;
    m_best_s = std::min(m_best_s, simulation.step_s);
    auto const is_among_best = [&](double step_s) { return step_s <= (1 + kAlike) * m_best_s; };
    bool const keeps = choice && is_among_best(choice->step_s);
    if (!is_among_best(simulation.step_s) || (keeps && m_moved <= moved)) return;
    m_moved = moved;
    choice = {plan, std::move(compiled), simulation.step_s};
  }

  // What estimates say needs least may fit all the same.
  void try_last(Plan const& plan) {
    auto compiled = placed(plan);
    if (fits(compiled.train.peak_bytes, m_budgets))
      consider(plan, std::move(compiled));
    else
      note_need(need_of(plan, compiled));
  }

  void note_need(Solution::Need need) {
    auto const rank = [&](Solution::Need const& n) {
      return std::tuple(n.nvme_bytes_per_s > 0, all_missing_bytes(n.peak_bytes, m_budgets),
                        n.peak_bytes[index(Tier::device)]);
    };
    auto& smallest = m_solution.smallest;
    if (smallest.plan.blocks.empty() || rank(need) < rank(smallest)) smallest = std::move(need);
  }

  Graph const& m_train;
  Graph const* m_eval;
  Machine const& m_machine;
  Budgets m_budgets;
  std::int64_t m_micro_batches, m_ranks;
  double m_best_s = std::numeric_limits<double>::infinity();
  double m_estimated_s = m_best_s;   // of the plans that fitted, the shortest
  std::int64_t m_moved = 0;          // by the choice
  std::size_t m_items = 0;           // of what was compiled
  std::vector<Plan> m_done;          // compiled
  std::vector<Candidate> m_fitting;  // of those that fitted
  Solution m_solution;
};

// Those of all layers, each once.
std::string policies_of(Plan const& plan, Graph const& graph) {
  std::vector<std::string_view> names;
  for (std::size_t b = 0; b < graph.blocks.size(); ++b) {
    auto const policy = name(plan.blocks[b].policy);
    if (graph.blocks[b].layer && std::ranges::count(names, policy) == 0) names.push_back(policy);
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace

Solution solve(Graph const& train, Graph const* eval, PlanRequest const& request,
               Budgets const& budgets, Machine const& machine, std::int64_t micro_batches,
               std::int64_t ranks) {
  auto const open = open_plan(train, request, machine.is_unified());
  return Solver(train, eval, machine, budgets, micro_batches, ranks).run(open);
}

Outlook outlook(Graph const& train, PlanRequest const& request, Budgets const& budgets,
                Machine const& machine, std::int64_t micro_batches, Shard shard,
                std::int64_t ranks) {
  auto const open = open_plan(train, request, machine.is_unified());
  auto model = block_model(train, machine, policies_within(open, budgets));
  apply(shard, ranks, model);
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

std::string describe(Solution::Need const& need, Graph const& graph, std::int64_t node_ranks) {
  constexpr std::int64_t mebibyte = 1 << 20;
  auto const budget = [&](Tier tier) {
    return format_bytes(round_up(need.peak_bytes[index(tier)], mebibyte));
  };
  std::string text = "needs at least device " + budget(Tier::device);
  for (Tier const tier : {Tier::host, Tier::nvme}) {
    if (need.peak_bytes[index(tier)] > 0)
      text += " and " + std::string(name(tier)) + " " + budget(tier);
  }
  if (need.nvme_bytes_per_s > 0) {
    constexpr double day_s = 24 * 3600, mebibyte_s = mebibyte / day_s;
    auto const node_bytes_per_s = need.nvme_bytes_per_s * static_cast<double>(node_ranks);
    auto const per_day = std::ceil(node_bytes_per_s / mebibyte_s);
    text += " and spill.max_write_per_day " +
            format_bytes(static_cast<std::int64_t>(per_day) * mebibyte);
  }
  return text + " (activations: " + policies_of(need.plan, graph) + ")";
}

}  // namespace spillway
