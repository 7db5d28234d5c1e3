// These tests ask what other hardware would buy.
#include "plan/search/what_if.hpp"

#include <gtest/gtest.h>

#include "plan/explain/answers.hpp"
#include "plan/search/needs.hpp"
#include "solve_case.hpp"

namespace spillway::test::what_if_test {
namespace {

using solve_case::graph;

constexpr std::int64_t kMebibyte = 1 << 20;

Machine device_machine() {
  auto machine = solve_case::machine();
  machine.device_bytes = 1 << 30;
  machine.target = "sm_90";
  machine.h2d_gbps = machine.d2h_gbps = 4;
  machine.node_gbps = 3;
  machine.network_gbps = 2;
  machine.nvme_both_gbps = 1.5;
  for (char const* const kind :
       {"host adamw", "host square_norm", "host accumulate", "host tree_sum"})
    machine.kind_giga_per_s[kind] = 5;
  return machine;
}

PlanQuestion question(Machine const& machine, Budgets const& budgets, std::int64_t ranks = 1) {
  return {graph(), nullptr, PlanRequest{}, budgets, machine, 1, ranks};
}

std::vector<std::string_view> names(std::vector<WhatIf> const& all) {
  std::vector<std::string_view> result;
  for (auto const& one : all) result.push_back(one.name);
  return result;
}

WhatIf const& named(std::vector<WhatIf> const& all, std::string_view name) {
  return *std::ranges::find(all, name, &WhatIf::name);
}

TEST(WhatIf, changes_one_thing_each) {
  auto machine = device_machine();
  machine.nvme_drives = 2;
  Budgets const budgets{100 * kMebibyte, 200 * kMebibyte, 300 * kMebibyte};
  auto const all = what_ifs(question(machine, budgets));
  ASSERT_EQ(names(all), (std::vector<std::string_view>{"twice_the_device_memory",
                                                       "twice_the_host_memory", "one_more_drive",
                                                       "twice_the_links", "without_clipping"}));
  EXPECT_EQ(all[0].budgets.device_bytes, 2 * budgets.device_bytes);
  EXPECT_EQ(all[0].budgets.host_bytes, budgets.host_bytes);
  EXPECT_EQ(all[1].budgets.host_bytes, 2 * budgets.host_bytes);
  EXPECT_EQ(all[1].budgets.device_bytes, budgets.device_bytes);
  auto const& drive = all[2];
  EXPECT_EQ(drive.words, "one more drive (3)");
  EXPECT_EQ(drive.budgets.nvme_bytes, 450 * kMebibyte);
  EXPECT_DOUBLE_EQ(drive.machine.nvme_read_gbps, 1.5 * machine.nvme_read_gbps);
  EXPECT_DOUBLE_EQ(drive.machine.nvme_write_gbps, 1.5 * machine.nvme_write_gbps);
  EXPECT_DOUBLE_EQ(drive.machine.nvme_both_gbps, 2.25);
  EXPECT_EQ(drive.machine.h2d_gbps, 4);
  auto const& links = all[3].machine;
  EXPECT_EQ(links.h2d_gbps, 8);
  EXPECT_EQ(links.d2h_gbps, 8);
  EXPECT_EQ(links.node_gbps, 6);
  EXPECT_EQ(links.network_gbps, 4);
  EXPECT_EQ(links.nvme_read_gbps, machine.nvme_read_gbps);
  for (auto const& one : all)
    EXPECT_EQ(one.norm_is_awaited, one.name != "without_clipping") << one.name;
}

TEST(WhatIf, leaves_out_what_there_is_none_of) {
  auto const cores = solve_case::machine();
  auto asked = question(cores, {100 * kMebibyte, 0, 0});
  asked.request.norm_is_awaited = false;
  EXPECT_EQ(names(what_ifs(asked)), std::vector<std::string_view>{"twice_the_device_memory"});
  asked.ranks = 2;
  auto const two = what_ifs(asked);
  EXPECT_EQ(two.back().name, "twice_the_links");
  EXPECT_EQ(two.back().machine.h2d_gbps, cores.h2d_gbps) << "within main memory";
}

// Not all activations find room on the device, and links to the host are slow.
class WhatIfTight : public ::testing::Test {
 protected:
  static Machine slow_links() {
    auto machine = device_machine();
    machine.h2d_gbps = machine.d2h_gbps = 0.2;
    return machine;
  }
  static PlanQuestion tight(Machine const& machine) {
    auto asked = question(machine, {2 * solve_case::most_of_it_bytes(), kMebibyte << 10, 0});
    asked.request =
        PlanWords{.activations = {"host"}, .parameters = {"device"}, .optimizer = {"device"}};
    return asked;
  }

  Machine const m_machine = slow_links();
  PlanQuestion const m_asked = tight(m_machine);
  CostedPlan const m_now = best_plan(m_asked);
  std::vector<WhatIf> const m_all = what_ifs(m_asked);
};

TEST_F(WhatIfTight, costs_what_a_search_with_the_change_finds) {
  ASSERT_TRUE(m_now.cost.fits);
  auto open = m_asked;
  open.request = {};
  open.budgets = {solve_case::most_of_it_bytes() / 2, kMebibyte << 10, 0};
  auto const now = best_plan(open);
  ASSERT_TRUE(now.cost.fits);
  auto const twice = cost_with(open, now, named(what_ifs(open), "twice_the_device_memory"));
  EXPECT_LT(twice.step_s, now.cost.step_s);
  EXPECT_LT(cost_with(m_asked, m_now, named(m_all, "twice_the_links")).step_s,
            0.9 * m_now.cost.step_s);
}

// Whatever a search finds: what is claimed here to be known is a better plan than all others.
TEST_F(WhatIfTight, is_never_slower_than_the_plan_that_there_is) {
  for (auto const& change : m_all) {
    auto const cost = cost_with(m_asked, m_now, change);
    EXPECT_TRUE(cost.fits) << change.name;
    EXPECT_LE(cost.step_s, m_now.cost.step_s) << change.name;
  }
  auto claimed = m_now;
  claimed.cost.step_s /= 10;
  for (auto const& change : m_all)
    EXPECT_LE(cost_with(m_asked, claimed, change).step_s, claimed.cost.step_s) << change.name;
}

// The one plan that is asked for would write faster with a faster drive.
TEST(WhatIf, writes_no_faster_than_it_may) {
  auto machine = device_machine();
  machine.nvme_read_gbps = machine.nvme_write_gbps = machine.nvme_both_gbps = 0.1;
  auto asked = question(machine, {kMebibyte << 10, kMebibyte << 10, kMebibyte << 10});
  asked.request = PlanWords{.activations = {"nvme"},
                            .parameters = {"device"},
                            .gradients = {"device"},
                            .optimizer = {"device"}};
  auto const free = best_plan(asked);
  ASSERT_TRUE(free.cost.fits);
  auto const with_drive = [&] {
    return cost_with(asked, free, named(what_ifs(asked), "one_more_drive")).step_s;
  };
  EXPECT_LT(with_drive(), 0.99 * free.cost.step_s);
  auto const step = simulated_step(asked, free.plan);
  asked.budgets.nvme_bytes_per_s =
      1.001 * static_cast<double>(step.bytes[Lane::nvme_write]) / step.step_s;
  EXPECT_EQ(forbidden_bytes_per_s(step, asked.budgets), 0);
  EXPECT_GE(with_drive(), 0.998 * free.cost.step_s);
}

TEST(WhatIf, says_with_which_changes_it_fits_that_does_not) {
  Budgets const budgets{100 * kMebibyte, 0, 0};
  auto const machine = solve_case::machine();
  auto all = what_ifs(question(machine, budgets));
  PlanCost const now{false, {150 * kMebibyte, 0, 0}, 2};
  auto const text = [&](bool first, bool second) {
    std::vector<ChangedCost> const rows = {
        {all[0], {first, {150 * kMebibyte, 0, 0}, 1}},
        {all[1], {second, {150 * kMebibyte, 0, 0}, 1}},
    };
    return what_if_text(now, budgets, rows, "4 sequences");
  };
  auto const one = text(true, false);
  EXPECT_TRUE(one.starts_with("What if, with micro-batches of 4 sequences\n")) << one;
  EXPECT_NE(one.find("  as it is                       does not fit: needs 50 MiB more device "
                     "memory,\n                                   then 2 s\n"),
            one.npos)
      << one;
  EXPECT_TRUE(one.ends_with("\nIt fits with twice the device memory.\n")) << one;
  EXPECT_TRUE(
      text(true, true).ends_with("\nIt fits with twice the device memory, or without clipping.\n"));
  EXPECT_TRUE(
      text(false, false)
          .ends_with("\nNone of these makes it fit; a plan without --what-if says what would.\n"));
}

}  // namespace
}  // namespace spillway::test::what_if_test
