// The planner against brute force in simulation: three layers or four, every assignment of policies
// and fractions, every number of chunks whose optimizer state, then parameters, leave the device
// from the front or from the back, to the drive of a machine with one memory or to the host's of a
// device with its own.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "plan/proof/derive.hpp"
#include "plan/search/estimate.hpp"
#include "plan/search/solve.hpp"
#include "plan/time/simulate.hpp"
#include "tests/support/gpt_graph.hpp"
#include "tests/support/plan_words.hpp"
#include "tests/support/sample.hpp"
#include "tests/support/small_machine.hpp"

namespace spillway::test::regret_test {
namespace {

constexpr std::int64_t kPlenty = std::int64_t{1} << 40;

// Where all is taken four layers are tried, at more budgets, and what is left of the regret is
// measured too, which takes longer. Its figures are in tests/bench/results/planner.md.
bool is_exact() {
  return takes_all();
}

int layers() {
  return is_exact() ? 4 : 3;
}

// Where it is asked what to do.
struct Site {
  std::string name;
  Machine machine;
  bool norm_is_awaited = true;

  Tier away() const { return machine.is_unified() ? Tier::nvme : Tier::host; }
  Budgets budgets(std::int64_t device_bytes) const {
    bool const drive = away() == Tier::nvme;
    return {device_bytes, drive ? 0 : kPlenty, drive ? kPlenty : 0};
  }
  Solution solve(Budgets const& budgets, std::string const& gradients = "auto") const;
};

Site site_with_drive(double gbps) {
  return {std::to_string(gbps).substr(0, 4) + " GB/s drive", small_machine_with_drive(gbps)};
}

// A device with memory of its own, over a link.
Site site_with_device(double gbps, bool norm_is_awaited) {
  Machine machine{.matmul_gflops_bf16 = 4000, .matmul_gflops_f32 = 2000, .memory_gbps = 400};
  machine.device_bytes = kPlenty;
  machine.h2d_gbps = machine.d2h_gbps = gbps;
  for (auto const* kind : {"host adamw", "host square_norm", "host accumulate", "host tree_sum"})
    machine.kind_giga_per_s[kind] = 20;
  return {std::to_string(gbps).substr(0, 4) + " GB/s link" + (norm_is_awaited ? "" : ", no clip"),
          machine, norm_is_awaited};
}

Graph const& graph() {
  static Graph const it = gpt_training_graph(
      {.layers = layers(), .hidden = 512, .heads = 8, .vocab = 8000, .sequence = 256, .micro = 8});
  return it;
}

Solution Site::solve(Budgets const& budgets, std::string const& gradients) const {
  PlanWords const words{.gradients = {gradients}, .norm_is_awaited = norm_is_awaited};
  return spillway::solve({graph(), nullptr, words, budgets, machine, 1, 1});
}

constexpr int kWords = 6;
// `code` picks a word per layer.
std::vector<std::string> words(int code, std::string const& away) {
  std::string const all[kWords] = {"keep", "light",       "recompute",
                                   away,   away + ":0.5", "light+" + away};
  std::vector<std::string> result;
  for (int i = 0; i < layers(); ++i, code /= kWords) result.push_back(all[code % kWords]);
  return result;
}

// `away` for `count` of the chunks.
std::vector<std::string> places(int count, bool from_back, std::string const& away) {
  int const chunks = static_cast<int>(graph().chunks.size());
  std::vector<std::string> result;
  for (int c = 0; c < chunks; ++c)
    result.push_back((from_back ? chunks - c : c + 1) <= count ? away : "device");
  return result;
}

struct Point {
  Plan plan;
  double bound_s;
  TierBytes estimated;
};

// On a device with memory of its own gradients go to where updates are.
std::vector<Plan> all_plans(Site const& site) {
  int const chunks = static_cast<int>(graph().chunks.size());
  int codes = 1;
  for (int i = 0; i < layers(); ++i) codes *= kWords;
  std::string const away(name(site.away()));
  std::vector<Plan> plans;
  for (int code = 0; code < codes; ++code) {
    for (int moves = 0; moves <= 2 * chunks; ++moves) {
      for (bool const from_back : {false, true}) {
        if (from_back && (moves == 0 || moves == chunks || moves == 2 * chunks)) continue;
        auto const optimizer = places(std::min(moves, chunks), from_back, away);
        PlanWords const request{
            .activations = words(code, away),
            .parameters = places(std::max(0, moves - chunks), from_back, away),
            .gradients = site.away() == Tier::host ? optimizer : std::vector<std::string>{"device"},
            .optimizer = optimizer,
            .norm_is_awaited = site.norm_is_awaited,
        };
        plans.push_back(make_plan(graph(), request, BlockPolicy::keep));
        plans.back().unified = site.machine.is_unified();
      }
    }
  }
  return plans;
}

// Shortest bound first.
std::vector<Point> points(Site const& site) {
  std::vector<BlockPolicy> policies;
  for (int p = 0; p < kPolicies; ++p) policies.push_back(static_cast<BlockPolicy>(p));
  auto const model = block_model(graph(), site.machine, policies);
  Estimator const estimator(model, site.machine, 1);
  std::vector<Point> result;
  for (Plan& plan : all_plans(site)) {
    auto const bound_s = estimator.sums(plan).bound_s();
    auto const estimated = estimator.peaks(plan);
    result.push_back({std::move(plan), bound_s, estimated});
  }
  std::ranges::sort(result, {}, &Point::bound_s);
  return result;
}

// The fastest that fits, if it is faster than `best`. What cannot be is not compiled, nor what by
// far does not fit.
double best_s(std::vector<Point> const& points, std::int64_t device_bytes, Machine const& machine,
              double best) {
  for (Point const& point : points) {
    if (0.999 * point.bound_s > best) break;
    if (static_cast<double>(point.estimated[0]) > 1.2 * static_cast<double>(device_bytes)) continue;
    auto compiled = compile_without_waits(graph(), nullptr, point.plan, 1, 1);
    if (compiled.train.peak_bytes[0] > device_bytes) continue;
    derive_waits(compiled.train);
    best = std::min(best, simulate(compiled.train, machine).step_s);
  }
  return best;
}

void expect_no_regret(Site const& site, std::vector<int> const& percents) {
  constexpr double within = 0.01;
  // Brute force puts no gradients on the drive, where plans would need less memory.
  auto const none = site.solve(site.budgets(0), site.away() == Tier::nvme ? "device" : "auto");
  auto const all = site.solve(site.budgets(kPlenty));
  ASSERT_TRUE(all.chosen);
  auto const all_bytes = all.chosen->compiled.train.peak_bytes[0];
  auto const least_bytes = none.smallest.peak_bytes[0];
  auto const everything = points(site);
  for (int const percent : percents) {
    auto const device_bytes = least_bytes + (all_bytes - least_bytes) * percent / 100;
    auto const solution = site.solve(site.budgets(device_bytes));
    ASSERT_TRUE(solution.chosen) << site.name << ", " << percent << " %";
    double const step_s = solution.chosen->step_s;
    auto const brute_s =
        best_s(everything, device_bytes, site.machine, is_exact() ? step_s : step_s / (1 + within));
    auto const regret = step_s / brute_s - 1;
    if (is_exact())
      std::printf("%s, %d %%: %.2f %% (compiled %d)\n", site.name.c_str(), percent, 100 * regret,
                  solution.compiled);
    EXPECT_LE(regret, 1.001 * within) << site.name << ", " << percent << " %";
  }
}

std::vector<int> const kMany = {90, 80, 70, 60, 50, 40, 30, 20, 15, 10, 5, 0};

TEST(Regret, is_within_one_per_cent_of_brute_force) {
  auto const rates_gbps = is_exact() ? std::vector{0.3, 1.0, 3.0, 30.0} : std::vector{0.3, 3.0};
  for (double const gbps : rates_gbps)
    expect_no_regret(site_with_drive(gbps), is_exact() ? kMany : std::vector{40, 5});
}

TEST(Regret, is_within_one_per_cent_beside_a_device_too) {
  auto const rates_gbps = is_exact() ? std::vector{2.0, 10.0} : std::vector{5.0};
  for (double const gbps : rates_gbps) {
    for (bool const clips : {true, false})
      expect_no_regret(site_with_device(gbps, clips), is_exact() ? kMany : std::vector{25});
  }
}

}  // namespace
}  // namespace spillway::test::regret_test
