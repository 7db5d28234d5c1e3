// Tables of plans that are made up, so that each number is known.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <numeric>
#include <sstream>

#include "app/table_closing.hpp"
#include "app/table_json.hpp"
#include "app/table_text.hpp"
#include "base/error.hpp"

namespace spillway::plan_table_texts_test {
namespace {

PlanTable table_of(std::vector<std::string> budgets, std::string machines = "",
                   std::vector<std::int64_t> ranks = {}) {
  PlanArguments arguments;
  arguments.budgets = std::move(budgets);
  arguments.machines = std::move(machines);
  arguments.all_ranks = std::move(ranks);
  auto table = plan_table(arguments);
  for (auto& row : table.rows) row.plan = {.step_s = 2, .tokens_per_s = 100};
  return table;
}

TriedPlan refused(Status status, std::string why) {
  return {.status = status, .why = std::move(why)};
}

TEST(PlanTableTexts, line_up_what_rows_say) {
  auto table = table_of({"device=8,12,900GiB"}, "m/a.yaml,h100.yaml");
  table.rows[0].plan =
      refused(Status::cannot_fit,
              "memory.device = 8 GiB: needs at least memory.device=9GiB (activations: keep)");
  auto& fastest = table.rows[1].plan;
  fastest.step_s = 0.25;
  fastest.tokens_per_s = 800;
  fastest.peak_bytes[Tier::device] = 3ll << 30;
  fastest.peak_bytes[Tier::nvme] = 5ll << 20;
  fastest.bound = {Lane::host, 0.244};
  table.rows[2].plan = refused(Status::bad_input, "memory.device = 900 GiB: too much; give less");
  table.rows[3].plan.step_s = table.rows[3].plan.tokens_per_s = 0;
  EXPECT_EQ(table_text(table),
            "machine  device  a step  tokens/s  device peak  NVMe peak  bound by\n"
            "a          8GiB  does not fit: needs at least memory.device=9GiB\n"
            "a         12GiB  250 ms       800        3 GiB      5 MiB  24 % working on the host\n"
            "a        900GiB  not possible: memory.device = 900 GiB: too much\n"
            "h100       8GiB       ?         ?            -          -  computing\n"
            "h100      12GiB     2 s       100            -          -  computing\n"
            "h100     900GiB     2 s       100            -          -  computing\n"
            "The fastest is a, device=12GiB; the least that fits is device=8GiB.\n");
}

TEST(PlanTableTexts, leave_out_what_does_not_vary_and_keep_to_the_width) {
  auto const one = table_text(table_of({"device=8GiB", "host=1,2GiB"}));
  EXPECT_TRUE(one.starts_with("host  a step")) << one;
  EXPECT_TRUE(table_text(table_of({"device=8GiB"})).starts_with("device  a step"));
  auto wide = table_of({"device=1000,2000MiB", "host=none,auto", "nvme=none,1000GiB"},
                       "a/some-long-name.yaml,b/some-long-name.yaml", {1, 1000000});
  EXPECT_EQ(wide.rows.size(), 32u);
  for (auto& row : wide.rows) {
    for (Tier const tier : kTiersInOrder) row.plan.peak_bytes[tier] = 123ll << 20;
    row.plan.bound = {Lane::comm, 0.5};
  }
  wide.rows[0].plan = refused(Status::bad_input,
                              "a long story of words that end in one line, and "
                              "go on in another one below it, as texts do");
  auto const text = table_text(wide);
  EXPECT_NE(text.find("a/some-long-name.yaml"), std::string::npos) << "names that are equal";
  EXPECT_EQ(text.find("bound by"), std::string::npos);
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 100u) << line;
}

TEST(PlanTableTexts, are_json_with_bytes_and_unknown_times_as_null) {
  auto table = table_of({"host=none,auto,1KiB"}, "", {2, 4});
  table.rows[1].plan.step_s = table.rows[1].plan.tokens_per_s = 0;
  table.rows[4].plan.tokens_per_s = 101;
  table.rows[5].plan = refused(Status::cannot_fit, "too large (activations: keep)");
  auto const json = nlohmann::json::parse(table_json(table));
  EXPECT_EQ(json.at("varied"), nlohmann::json({"ranks", "host"}));
  auto const& rows = json.at("rows");
  ASSERT_EQ(rows.size(), 6u);
  EXPECT_EQ(rows[0].at("host"), "none");
  EXPECT_EQ(rows[1].at("host"), "auto");
  EXPECT_EQ(rows[2].at("host"), 1024);
  EXPECT_EQ(rows[3].at("ranks"), 4);
  EXPECT_TRUE(rows[1].at("step_s").is_null());
  EXPECT_EQ(rows[5].at("why"), "too large (activations: keep)");
  EXPECT_FALSE(rows[5].contains("step_s"));
  EXPECT_EQ(json.at("fastest"), 4);
  EXPECT_EQ(json.at("least"), nlohmann::json({{"host", "none"}}));
}

TEST(PlanTableTexts, have_the_last_option_change_from_row_to_row) {
  auto const table = table_of({"device=1,2GiB", "nvme=none,3GiB"}, "a.yaml");
  ASSERT_EQ(table.rows.size(), 4u);
  EXPECT_EQ(table.rows[0].arguments.overrides,
            (std::vector<std::string>{"memory.device=1GiB", "memory.nvme=none"}));
  EXPECT_EQ(table.rows[3].arguments.overrides,
            (std::vector<std::string>{"memory.device=2GiB", "memory.nvme.path=auto",
                                      "memory.nvme.size=3GiB"}));
  EXPECT_EQ(table.rows[3].arguments.machine, "a.yaml");
}

TEST(PlanTableTexts, say_with_what_the_least_budgets_fit_that_do_not_fit_together) {
  auto table = table_of({"device=1,2GiB", "host=none,auto,3GiB,4GiB"});
  for (int const row : {0, 1, 2, 4}) table.rows[row].plan = refused(Status::cannot_fit, "");
  EXPECT_EQ(closing_words(table),
            "The fastest is device=1GiB, host=4GiB; the least that fits is device=1GiB with "
            "host=4GiB, or host=3GiB with device=2GiB.");
  table.rows[2].plan = {.step_s = 2, .tokens_per_s = 100};
  EXPECT_EQ(closing_words(table),
            "The fastest is device=1GiB, host=3GiB; the least that fits is device=1GiB, "
            "host=3GiB.");
}

TEST(PlanTableTexts, say_what_a_run_takes_and_where_it_is_cheapest) {
  auto table = table_of({}, "a.yaml,b.yaml,c.yaml");
  table.rows[0].plan.run = {.seconds = 86'400, .price = 300};
  table.rows[1].plan.run = {.seconds = 172'800, .energy_kwh = 50, .price = 200};
  table.rows[2].plan.run = {.seconds = 3600};
  EXPECT_EQ(table_text(table),
            "machine  a step  tokens/s  1B cost  bound by\n"
            "a           2 s       100      300  computing\n"
            "b           2 s       100      200  computing\n"
            "c           2 s       100        ?  computing\n"
            "The fastest is a; the cheapest is b.\n");
  EXPECT_EQ(nlohmann::json::parse(table_json(table)).at("cheapest"), 1);
  EXPECT_FALSE(nlohmann::json::parse(table_json(table)).at("rows")[2].contains("run"));
  for (auto& row : table.rows) row.arguments.tokens = 2e9;
  EXPECT_EQ(table_text(table),
            "machine  a step  tokens/s  2B take  kWh  price  bound by\n"
            "a           2 s       100       1d    ?    300  computing\n"
            "b           2 s       100       2d   50    200  computing\n"
            "c           2 s       100       1h    ?      ?  computing\n"
            "The fastest is a; the cheapest is b.\n");
  auto const json = nlohmann::json::parse(table_json(table));
  EXPECT_EQ(json.at("rows")[2].at("run").at("seconds"), 3600);
  EXPECT_TRUE(json.at("rows")[2].at("run").at("price").is_null());
  table.rows[0].plan.run.price = 0;
  EXPECT_TRUE(nlohmann::json::parse(table_json(table)).at("cheapest").is_null()) << "of one alone";
  EXPECT_EQ(closing_words(table), "The fastest is a.");
}

TEST(PlanTableTexts, have_64_rows_at_most) {
  std::vector<std::int64_t> ranks(32);
  std::iota(ranks.begin(), ranks.end(), 1);
  EXPECT_EQ(table_of({"device=1,2GiB"}, "", ranks).rows.size(), 64u);
  ranks.push_back(33);
  EXPECT_THROW(table_of({"device=1,2GiB"}, "", ranks), Error);
}

}  // namespace
}  // namespace spillway::plan_table_texts_test
