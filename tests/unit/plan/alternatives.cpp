// What other plans cost, and what more memory would buy.
#include <gtest/gtest.h>

#include <numeric>
#include <sstream>

#include "plan/explain/compare.hpp"
#include "plan/search/search.hpp"
#include "tests/support/gpt_graph.hpp"
#include "tests/support/plan_words.hpp"

namespace spillway::test::alternatives_test {
namespace {

constexpr std::int64_t kMebibyte = 1 << 20;

Machine machine() {
  return {.matmul_gflops_bf16 = 350,
          .matmul_gflops_f32 = 200,
          .memory_gbps = 20,
          .nvme_write_gbps = 1,
          .nvme_read_gbps = 1,
          .h2d_gbps = 10,
          .d2h_gbps = 10,
          .cores = 2,
          .compute_cores = 2};
}

Graph const& graph() {
  static Graph const graph = gpt_training_graph({.layers = 8, .hidden = 256, .heads = 4});
  return graph;
}

// Keeping all activations takes 389 MiB of device memory.
constexpr Budgets kTight = {310 * kMebibyte, 0, 1024 * kMebibyte};
constexpr Budgets kRoomy = {4096 * kMebibyte, 0, 1024 * kMebibyte};

PlanQuestion question(Budgets const& budgets, Machine const& machine) {
  return {graph(), nullptr, PlanWords{.activations = {"auto"}, .optimizer = {"device"}},
          budgets, machine, 1,
          1};
}

PlanCost chosen(PlanQuestion const& q) {
  auto const solution = solve(q);
  return {true, solution.chosen->compiled.train.peak_bytes, solution.chosen->step_s};
}

// A drive of 10 MiB does not hold what is spilled, and nine tenths of what is named do not, either.
TEST(SufficientBytes, are_enough_and_not_much_more_than_that) {
  auto const here = machine();
  Budgets const small = {kTight.device_bytes, 0, 10 * kMebibyte};
  auto asked = question(small, here);
  asked.request = PlanWords{.activations = {"nvme"}};
  ASSERT_FALSE(solve(asked).chosen);
  auto const bytes = sufficient_bytes(asked, Tier::nvme);
  ASSERT_TRUE(bytes);
  EXPECT_FALSE(sufficient_bytes(asked, Tier::host)) << "there is none";
  auto const fits_with = [&](std::int64_t nvme_bytes) {
    asked.budgets.nvme_bytes = nvme_bytes;
    return solve(asked).chosen.has_value();
  };
  EXPECT_TRUE(fits_with(*bytes));
  EXPECT_FALSE(fits_with(*bytes * 9 / 10));
  asked.budgets = {kMebibyte, 0, 10 * kMebibyte};
  EXPECT_FALSE(sufficient_bytes(asked, Tier::nvme)) << "no drive is large enough";
}

TEST(Alternatives, are_four_and_fit_or_say_what_is_missing) {
  auto const here = machine();
  auto const all = alternatives(question(kTight, here));
  ASSERT_EQ(all.size(), 4u);
  EXPECT_EQ(all[0].name, "all-keep");
  EXPECT_EQ(all[1].name, "all-recompute");
  EXPECT_EQ(all[2].name, "all-host");
  EXPECT_EQ(all[3].name, "all-nvme");
  for (auto const& [name, cost] : all) {
    auto const missing = missing_bytes(cost.peak_bytes, kTight);
    EXPECT_EQ(cost.fits, missing == TierBytes{}) << name;
    EXPECT_EQ(cost.fits, fits(cost.peak_bytes, kTight)) << name;
    EXPECT_GT(cost.step_s, 0) << name;
  }
  auto const missing = [&](std::size_t which, Tier tier) {
    return missing_bytes(all[which].cost.peak_bytes, kTight)[index(tier)];
  };
  EXPECT_EQ(missing(0, Tier::device), all[0].cost.peak_bytes[0] - kTight.device_bytes);
  EXPECT_GT(missing(0, Tier::device), 0);  // all-keep
  EXPECT_TRUE(all[1].cost.fits);           // all-recompute
  EXPECT_GT(missing(2, Tier::host), 0);    // all-host: there is no host tier
  EXPECT_TRUE(all[3].cost.fits);           // all-nvme
  EXPECT_GT(all[3].cost.peak_bytes[index(Tier::nvme)], 0);
}

TEST(Alternatives, are_what_the_search_finds_with_those_activations) {
  auto const here = machine();
  auto asked = question(kRoomy, here);
  auto const all = alternatives(asked);
  for (std::size_t i = 0; i < 2; ++i) {
    asked.request.activations = {BlockPlan{i == 0 ? BlockPolicy::keep : BlockPolicy::recompute, 1}};
    EXPECT_DOUBLE_EQ(all[i].cost.step_s, chosen(asked).step_s);
    EXPECT_EQ(all[i].cost.peak_bytes, chosen(asked).peak_bytes);
  }
  EXPECT_GT(all[1].cost.step_s, all[0].cost.step_s);
}

TEST(Alternatives, take_nobody_knows_how_long_without_a_rate) {
  auto here = machine();
  here.nvme_write_gbps = 0;
  auto asked = question(kTight, here);
  asked.request.parameters = {Tier::device};
  auto const all = alternatives(asked);
  EXPECT_EQ(all[3].cost.step_s, 0);  // all-nvme
  EXPECT_GT(all[1].cost.step_s, 0);  // all-recompute
}

TEST(OneMoreGib, buys_time_where_memory_is_short) {
  auto const here = machine();
  auto const tight = question(kTight, here);
  auto const more = one_more_gib(tight);
  ASSERT_EQ(more.size(), 2u);  // no host tier
  EXPECT_EQ(more[0].tier, Tier::device);
  EXPECT_EQ(more[1].tier, Tier::nvme);
  auto wider = tight;
  wider.budgets.device_bytes += 1024 * kMebibyte;
  EXPECT_DOUBLE_EQ(more[0].cost.step_s, chosen(wider).step_s);
  EXPECT_LT(more[0].cost.step_s, 0.999 * chosen(tight).step_s);
  EXPECT_DOUBLE_EQ(more[1].cost.step_s, chosen(tight).step_s);
}

// Of estimates alone: whether everything may stay, whether anything fits, and what it needs then.
TEST(Outlook, says_whether_all_is_as_asked_or_what_fits_or_what_needs_little) {
  auto const here = machine();
  auto const of = [&](Budgets const& budgets) { return outlook(question(budgets, here)); };
  auto const roomy = of(kRoomy), tight = of(kTight), none = of({kMebibyte, 0, 0});
  EXPECT_TRUE(roomy.fits && roomy.as_asked);
  EXPECT_GT(roomy.peak_bytes[Tier::device], kTight.device_bytes);
  EXPECT_TRUE(tight.fits && !tight.as_asked);
  EXPECT_TRUE(fits(tight.peak_bytes, kTight));
  EXPECT_FALSE(none.fits || none.as_asked);
  EXPECT_GT(none.peak_bytes[Tier::device], kMebibyte);
  EXPECT_LT(none.peak_bytes[Tier::device], roomy.peak_bytes[Tier::device]);
  for (auto const* one : {&roomy, &tight, &none}) EXPECT_GT(one->step_s, 0);
}

// Of two ranks, or more, that have optimizer state in `tier`.
std::vector<Alternative> shared(std::string const& tier, Machine const& machine,
                                std::int64_t ranks = 2) {
  constexpr std::int64_t gib4 = 4096 * kMebibyte;
  return shardings({graph(), nullptr, PlanWords{.activations = {"keep"}, .optimizer = {tier}},
                    Budgets{gib4, gib4, gib4}, machine, 1, ranks});
}

TEST(Shardings, are_four_unless_a_rank_is_alone) {
  auto here = machine();
  here.network_gbps = 1;
  auto const all = shared("device", here);
  ASSERT_EQ(all.size(), 4u);
  EXPECT_EQ(all[0].name, "none");
  EXPECT_EQ(all[1].name, "optimizer");
  EXPECT_EQ(all[2].name, "gradients");
  EXPECT_EQ(all[3].name, "all");
  for (auto const& [name, cost] : all) {
    EXPECT_TRUE(cost.fits) << name;
    EXPECT_GT(cost.step_s, 0) << name;
  }
  EXPECT_LT(all[1].cost.peak_bytes[0], all[0].cost.peak_bytes[0]);
  EXPECT_TRUE(shared("device", here, 1).empty());
}

// A rate counts only where bytes need it, and the rate of memory stands for that of a link.
TEST(Shardings, take_nobody_knows_how_long_without_a_rate_that_they_need) {
  auto here = machine();
  here.network_gbps = 1;
  auto const known = [&](std::string const& tier, std::vector<double Machine::*> const& without) {
    auto machine = here;
    for (auto const rate : without) machine.*rate = 0;
    return shared(tier, machine)[0].cost.step_s > 0;
  };
  constexpr auto read = &Machine::nvme_read_gbps, write = &Machine::nvme_write_gbps,
                 h2d = &Machine::h2d_gbps, d2h = &Machine::d2h_gbps, memory = &Machine::memory_gbps,
                 network = &Machine::network_gbps;
  EXPECT_TRUE(known("device", {read, write, h2d, d2h, memory}));
  EXPECT_FALSE(known("device", {network}));
  EXPECT_TRUE(known("nvme", {}));
  EXPECT_FALSE(known("nvme", {read}));
  EXPECT_FALSE(known("nvme", {write}));
  EXPECT_TRUE(known("host", {h2d, d2h, read, write}));
  EXPECT_TRUE(known("host", {memory}));
  EXPECT_FALSE(known("host", {memory, h2d}));
  EXPECT_FALSE(known("host", {memory, d2h}));
}

TEST(Compare, says_it_in_words) {
  std::vector<Alternative> const others = {
      {"all-keep", {false, {5 * kMebibyte, 0, 0}, 2}},
      {"all-recompute", {true, {kMebibyte, 0, 0}, 5}},
      {"all-host", {false, {kMebibyte, 3 * kMebibyte, 0}, 0}},
      {"all-nvme", {true, {kMebibyte, 0, 0}, 3}},
  };
  std::vector<MoreRoom> const more = {{Tier::device, {true, {}, 3.6}},
                                      {Tier::host, {true, {}, 4.4}},
                                      {Tier::nvme, {true, {}, 4.001}}};
  std::vector<Alternative> const shardings = {{"none", {true, {kMebibyte, 0, 0}, 4}},
                                              {"optimizer", {true, {kMebibyte, 0, 0}, 2}}};
  auto const text =
      compare({true, {2 * kMebibyte, 0, 0}, 4}, {others, more, shardings}, {3 * kMebibyte, 0, 0});
  auto const has = [&](std::string const& part) { return text.find(part) != text.npos; };
  EXPECT_TRUE(has("all-keep       does not fit: needs 2 MiB more device memory, then 2 s\n"))
      << text;
  EXPECT_TRUE(has("all-host       not possible: there is no budget of host memory\n")) << text;
  EXPECT_TRUE(has("5 s   +25 %")) << text;
  EXPECT_TRUE(has("all-nvme is faster by prediction: plan.activations=nvme")) << text;
  EXPECT_TRUE(has("device memory  3.6 s instead of 4 s (-10 %)\n")) << text;
  EXPECT_TRUE(has("  optimizer           2 s   -50 %")) << text;
  EXPECT_TRUE(has("host memory    nothing\n")) << text;  // a worse plan need not be taken
  EXPECT_TRUE(has("NVMe           nothing\n")) << text;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 80u) << line;
}

// A plan that sends activations away beats one that keeps all, whose state then has no room.
TEST(Compare, says_why_what_surprises_is_faster_or_slower) {
  PlanCost chosen{true, {kMebibyte, 0, 0}, 4};
  chosen.chain_s[Lane::compute] = 3.5;
  chosen.chain_s[Lane::host] = 0.5;
  Alternative keep{"all-keep", {true, {kMebibyte, 0, 0}, 6}};
  keep.cost.chain_s[Lane::compute] = 3;
  keep.cost.chain_s[Lane::host] = 3;
  auto const said = [&](Alternative const& other, PlanCost const& beside) {
    auto const text = compare(beside, {{other}, {}, {}}, {3 * kMebibyte, 0, 0});
    auto const at = text.find("all-keep is ");
    return at == text.npos ? "" : text.substr(at, text.find("\nWhat 1 GiB") - at);
  };
  EXPECT_EQ(said(keep, chosen),
            "all-keep is slower: its longest chain of work has 2.5 s more of working on the\n"
            "  host, 500 ms less of computing\n");
  EXPECT_EQ(said({"all-keep", chosen}, keep.cost),
            "all-keep is faster by prediction: plan.activations=keep on the command line\n"
            "all-keep is faster: its longest chain of work has 2.5 s less of working on the\n"
            "  host, 500 ms more of computing\n");
  EXPECT_EQ(said({"all-nvme", keep.cost}, chosen), "") << "who spills more may well be slower";
  keep.cost.chain_s = {};
  EXPECT_EQ(said(keep, chosen), "") << "nobody knows why";
}

TEST(Alternatives, that_fit_say_where_their_longest_chain_goes) {
  auto const here = machine();
  auto const all = alternatives(question(kTight, here));
  for (auto const& [name, cost] : all) {
    auto const sum_s = std::accumulate(cost.chain_s.begin(), cost.chain_s.end(), 0.0);
    EXPECT_NEAR(sum_s, cost.fits ? cost.step_s : 0, 1e-9) << name;
  }
}

}  // namespace
}  // namespace spillway::test::alternatives_test
