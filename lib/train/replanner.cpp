#include "train/replanner.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "base/checksum.hpp"
#include "base/log.hpp"
#include "base/median.hpp"
#include "base/units.hpp"
#include "comm/gathered.hpp"
#include "comm/on_all_ranks.hpp"
#include "plan/data/plan.hpp"
#include "plan/data/reach.hpp"
#include "plan/move/move.hpp"
#include "run/budgets.hpp"

namespace spillway {
namespace {

constexpr std::size_t kWatchedSteps = 8;
constexpr std::int64_t kFirstSteps = 2;  // not watched, since pages and caches are new

// Returns whether all activations and state stay on the device, so that no other plan is faster.
bool is_resident(PlannedRun const& planned) {
  return stays_on_device(planned.programs.train) &&
         std::ranges::all_of(planned.plan.blocks, [](BlockPlan const& block) {
           return block.policy == BlockPolicy::keep;
         });
}

}  // namespace

Replanner::Replanner(ReplanParts const& parts)
    : m_parts(parts),
      m_planned(&parts.planned),
      m_simulation(&parts.simulation),
      m_peak_bytes(parts.planned.programs.train.peak_bytes),
      m_machine(parts.machine),
      m_assumed(parts.simulation),
      m_search_s(parts.planned.search_s),
      m_wait(kWatchedSteps) {
  watch_anew(kFirstSteps);
}

void Replanner::watch_anew(std::int64_t wait) {
  m_skip = wait;
  m_step_s.clear();
  m_sums = {};
}

double Replanner::watched_step_s() const {
  return m_step_s.size() == kWatchedSteps ? median(m_step_s) : 0;
}

bool Replanner::has_drifted(std::int64_t steps_done, StepResult const& result) {
  bool const is_over = steps_done >= m_parts.config.run.steps;
  if (!may_replan(m_parts.config) || is_over || is_resident(*m_planned)) return false;
  if (m_step_s.size() == kWatchedSteps) {
    m_told = measured();
    watch_anew(0);
  }
  watch(result);
  auto const slowest_step_s = result.note.step_s;
  return slowest_step_s > 0 && spillway::has_drifted(m_assumed.step_s, slowest_step_s);
}

void Replanner::watch(StepResult const& result) {
  if (m_skip > 0) {
    --m_skip;
    return;
  }
  m_step_s.push_back(result.step_s);
  for (std::size_t lane = 0; lane < kLanes; ++lane) {
    m_sums.busy_s[lane] += result.lanes.use[lane].busy_s;
    m_sums.bytes[lane] += result.lanes.use[lane].bytes;
  }
}

std::optional<NewPlan> Replanner::look_for_better(std::int64_t steps_done) {
  auto const seen = slowest(gathered(m_parts.comm, m_told));
  auto plan = find_better(steps_done, seen);
  m_assumed.step_s = seen.step_s;
  watch_anew(m_wait);
  m_wait *= 2;
  return plan;
}

Measured Replanner::measured() const {
  auto own = m_sums;
  own.steps = static_cast<std::int64_t>(m_step_s.size());
  own.step_s = median(m_step_s);
  return own;
}

std::optional<NewPlan> Replanner::find_better(std::int64_t steps_done, Measured const& seen) {
  auto fit = fit_machine(m_planned->programs.train, m_machine, m_assumed, seen);
  if (!fit) return std::nullopt;
  Cause const cause{steps_done,
                    fmt::format("steps take {}, expected {}: {}", human_duration(seen.step_s),
                                human_duration(m_assumed.step_s), fit->drift.why)};
  m_machine = std::move(fit->drift.machine);
  m_assumed = std::move(fit->simulation);
  return weigh(cause, seen);
}

// Returns a plan to change to, or nothing if the current plan stays.
std::optional<NewPlan> Replanner::weigh(Cause const& cause, Measured const& seen) {
  auto const stays = [&](char const* why) {
    say(cause, fmt::format("the plan stays: {}", why));
    return std::nullopt;
  };
  auto const steps_left = m_parts.config.run.steps - cause.steps_done;
  auto const search_s = std::ranges::max(gathered(m_parts.comm, m_search_s));
  if (!is_worth_a_search(seen, steps_left, search_s)) return stays("too few steps are left");
  auto run = search(room());
  if (!run) return stays("there is no other");
  auto next = simulate(run->programs.train, m_machine);
  Change change{m_assumed.step_s, next.step_s, 0, steps_left};
  if (!pays(change)) return stays("no other gains enough");
  auto move = make_move(m_planned->programs.train, run->programs.train);
  if (!move) return stays("there is no room to move what a better one keeps elsewhere");
  change.move_s = simulate(*move, m_machine).step_s;
  if (!pays(change)) return stays("the move to a better one takes longer than it gains");
  say(cause, fmt::format("new plan from step {} ({} instead of {}; the move takes {})",
                         cause.steps_done + 1, human_duration(next.step_s),
                         human_duration(m_assumed.step_s), human_duration(change.move_s)));
  return NewPlan{std::move(run), std::move(next), std::move(*move), cause.what};
}

std::optional<NewPlan> Replanner::without_storage(std::int64_t steps_done) {
  auto const& train = m_planned->programs.train;
  if (!may_replan(m_parts.config) || train.persistent_bytes[index(Tier::nvme)] > 0)
    return std::nullopt;
  auto budgets = room();
  budgets.nvme_bytes = 0;
  auto run = search(budgets);
  if (!run) return std::nullopt;
  auto move = make_move(train, run->programs.train);
  if (!move) return std::nullopt;
  m_no_storage = true;
  auto simulation = simulate(run->programs.train, m_machine);
  Cause const cause{steps_done, "storage has failed"};
  say(cause, fmt::format("new plan without it from step {} ({} instead of {})", steps_done + 1,
                         human_duration(simulation.step_s), human_duration(m_assumed.step_s)));
  return NewPlan{std::move(run), std::move(simulation), std::move(*move), cause.what};
}

// Returns null if no plan fits, or if ranks find different plans.
std::unique_ptr<PlannedRun> Replanner::search(Budgets const& budgets) {
  auto const& arithmetic = m_planned->train.arithmetic;
  Choices const choices{
      .threads = arithmetic.threads, .micro = arithmetic.micro, .mlp_chunk = arithmetic.mlp_chunk};
  auto config = m_parts.config;
  config.plan.shard.clear();  // ranks keep the slices that they have
  for (ChunkPlan const& chunk : m_planned->plan.chunks) config.plan.shard.push_back(chunk.shard);
  config.plan.shard_ranks = shard_ranks(m_planned->plan).value_or(ShardRanks::all);
  std::unique_ptr<PlannedRun> run;
  try {
    on_all_ranks(m_parts.comm, [&] {
      run = std::make_unique<PlannedRun>(
          plan_run(config, m_parts.vocab, {m_machine, budgets, choices, arithmetic.ranks}));
      set_products(*run, arithmetic.products);
    });
  } catch (AgreedError const&) {
    return nullptr;
  }
  m_search_s = run->search_s;
  auto const text = to_yaml(run->plan, run->train);
  auto const plans = gathered(m_parts.comm, checksum(std::as_bytes(std::span(text))));
  return std::ranges::count(plans, plans[0]) == std::ssize(plans) ? std::move(run) : nullptr;
}

Budgets Replanner::room() {
  auto all = gathered(m_parts.comm, m_parts.memory.room());
  all.push_back(m_parts.limits);
  auto least = smallest(all);
  if (m_no_storage) least.nvme_bytes = 0;
  least.nvme_bytes_per_s = m_parts.limits.nvme_bytes_per_s;
  return least;
}

void Replanner::adopt(NewPlan plan, std::int64_t steps_done) {
  auto adopted = std::make_unique<NewPlan>(std::move(plan));
  m_planned = adopted->run.get();
  m_simulation = &adopted->simulation;
  m_assumed = *m_simulation;
  m_file = fmt::format("plan-{}.yaml", steps_done);
  if (m_no_storage) watch_anew(kFirstSteps);  // steps of the plan before are no longer watched
  auto const& peaks = m_planned->programs.train.peak_bytes;
  std::ranges::transform(m_peak_bytes, peaks, m_peak_bytes.begin(),
                         [](auto a, auto b) { return std::max(a, b); });
  m_adopted = std::move(adopted);  // frees the previous plan, which is not used any more
}

void Replanner::say(Cause const& cause, std::string const& consequence) {
  if (m_parts.comm.rank() == 0)
    log_info("step {}: {}; {}", cause.steps_done, cause.what, consequence);
}

}  // namespace spillway
