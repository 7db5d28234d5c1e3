// What `plan --json` writes, each number from its own place.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "app/plan_json.hpp"
#include "app/run_answer.hpp"
#include "tests/support/small_machine.hpp"
#include "tests/support/tiny_gpt.hpp"

namespace spillway::test::plan_reports_test {
namespace {

constexpr std::int64_t kGib = std::int64_t{1} << 30;

// On 2 ranks: 6 sequences in rows for 8.
class PlanReports : public ::testing::Test {
 protected:
  PlanReports() {
    m_planned.search_s = 0.125;
    m_planned.estimated = 17;
    m_planned.compiled = 5;
    m_simulation.bytes[Lane::nvme_write] = 3'000'000;
    m_simulation.bytes[Lane::nvme_read] = 4'000'000;
  }
  static Config config() {
    auto config = tiny_config();
    config.model.hidden = 64;
    config.data.sequence = 64;
    config.batch.sequences = 6;
    config.debug.kernels = KernelSet::portable;
    config.plan.activations = {BlockPlan{BlockPolicy::nvme, 1}};
    config.plan.optimizer = {Tier::host};
    return config;
  }
  static Machine machine() {
    auto machine = small_machine_with_drive(2);
    machine.node_gbps = 5;
    machine.node_ranks = 2;
    return machine;
  }
  nlohmann::json json(OtherPlans const& others = {}, Budgets const& budgets = {}) const {
    return nlohmann::json::parse(
        to_json(PlanReport{m_config, m_planned, m_simulation, m_machine, budgets, m_bound,
                           "Fits.\nAnd so on.\n", others}));
  }

  StepBound const m_bound{0.0625, "computing", {0.5, 0.25, 0.125}};
  Config const m_config = config();
  Machine const m_machine = machine();
  PlannedRun m_planned =
      plan_run(m_config, kTinyVocab,
               {m_machine, {kGib, kGib, kGib}, {.threads = 1, .micro = 2}, /*ranks=*/2});
  Simulation m_simulation = simulate(m_planned.programs.train, m_machine);
};

TEST_F(PlanReports, predict_what_a_step_takes_moves_and_wears) {
  auto const all = json();
  auto const& now = all.at("predicted");
  auto const number = [&](char const* key) { return now.at(key).get<double>(); };
  auto const step_s = m_simulation.step_s;
  EXPECT_EQ(number("step_s"), step_s);
  EXPECT_EQ(number("bound_s"), 0.0625);
  EXPECT_EQ(now.at("bound_limit"), "computing");
  auto const& gap = now.at("bound_gap_s");
  EXPECT_EQ(gap.at("places"), 0.5);
  EXPECT_EQ(gap.at("activations"), 0.25);
  EXPECT_EQ(gap.at("waits"), 0.125);
  EXPECT_NEAR(number("tokens_per_s") * step_s, 384, 1e-6);
  EXPECT_DOUBLE_EQ(number("empty_share"), 0.25);
  EXPECT_EQ(number("spill_bytes_per_step"), 3'000'000);
  EXPECT_NEAR(number("drive_bytes_per_day") * step_s, 6e6 * 86'400, 1e3) << "of both ranks";
  EXPECT_NEAR(number("ssd_lifetime_years") / step_s, 600e12 / (6e6 * 86'400) / 365.25, 1e-6);
  EXPECT_DOUBLE_EQ(number("ssd_used_lifetime_years"), 215 * number("ssd_lifetime_years"));
  // 108,096 parameters, of each the master and two moments.
  EXPECT_EQ(number("checkpoint_bytes"), 1'297'152);
  EXPECT_DOUBLE_EQ(number("checkpoint_s"), 0.000324288) << "both ranks of the node write 2 GB/s";
  auto const& peaks = m_planned.programs.train.peak_bytes;
  ASSERT_GT(peaks[Tier::host], 0);
  ASSERT_GT(peaks[Tier::nvme], 0);
  ASSERT_NE(peaks[Tier::host], peaks[Tier::nvme]);
  EXPECT_EQ(now.at("peak_bytes"), nlohmann::json({{"device", peaks[Tier::device]},
                                                  {"host", peaks[Tier::host]},
                                                  {"nvme", peaks[Tier::nvme]}}));
  EXPECT_EQ(now.at("host_bytes"), peaks[Tier::host]);
  EXPECT_EQ(now.at("nvme_bytes"), peaks[Tier::nvme]);
}

TEST_F(PlanReports, say_how_the_plan_was_found_and_leave_out_what_nobody_asked_for) {
  auto const all = json();
  EXPECT_EQ(all.at("plan"), to_yaml(m_planned.plan, m_planned.train));
  EXPECT_EQ(all.at("search_s"), 0.125);
  EXPECT_EQ(all.at("candidates"), 17);
  EXPECT_EQ(all.at("verdict"), "Fits.");
  EXPECT_EQ(all.at("alternatives"), nlohmann::json::object());
  EXPECT_FALSE(all.contains("one_more_gib"));
  EXPECT_FALSE(all.contains("sharding"));
}

TEST_F(PlanReports, tell_of_a_run_what_is_known) {
  EXPECT_FALSE(json().contains("run"));
  auto machine = m_machine;
  machine.price_per_hour = 3;
  auto config = m_config;
  config.run.checkpoint.every = 500;
  auto const cost = run_of(384'000, config, m_planned, m_simulation, machine);
  EXPECT_EQ(cost.steps, 1000);
  EXPECT_EQ(cost.checkpoints, 2);
  EXPECT_DOUBLE_EQ(cost.checkpoints_s, 2 * 0.000324288);
  EXPECT_DOUBLE_EQ(cost.seconds, 1000 * m_simulation.step_s + cost.checkpoints_s);
  EXPECT_DOUBLE_EQ(cost.written_bytes, 6e9) << "by both ranks of the node";
  EXPECT_DOUBLE_EQ(cost.price, 3 * 2 * cost.seconds / 3600);
  PlanReport report{m_config, m_planned, m_simulation, m_machine, {}, m_bound, "Fits.\n"};
  report.run = cost;
  auto const run = nlohmann::json::parse(to_json(report)).at("run");
  EXPECT_EQ(run.at("tokens"), 384'000);
  EXPECT_EQ(run.at("seconds"), cost.seconds);
  EXPECT_EQ(run.at("price"), cost.price);
  EXPECT_EQ(run.at("rated_wear"), cost.rated_wear);
  EXPECT_EQ(run.at("used_wear"), cost.used_wear);
  EXPECT_TRUE(run.at("energy_kwh").is_null());
}

TEST_F(PlanReports, say_what_was_decided_against_and_what_is_busiest) {
  m_simulation.busy_s[Lane::host] = 3;
  m_simulation.step_s = 4;
  PlanReport report{m_config, m_planned, m_simulation, m_machine, {10, 12, 40}, m_bound, "Fits.\n"};
  report.why_not = {{"updates on the device", "plan.update=device", {false, {11, 2, 3}, 0.5}}};
  auto const all = nlohmann::json::parse(to_json(report));
  EXPECT_EQ(all.at("busiest"),
            nlohmann::json({{"lane", "host"}, {"busy_s", 3.0}, {"share", 0.75}}));
  EXPECT_EQ(all.at("why_not"), nlohmann::json::parse(R"([
      {"choice": "updates on the device", "key": "plan.update=device", "fits": false, "step_s": 0.5,
       "peak_bytes": {"device": 11, "host": 2, "nvme": 3},
       "missing_bytes": {"device": 1, "host": 0, "nvme": 0}}])"));
}

TEST_F(PlanReports, tell_of_other_plans_with_what_they_lack) {
  OtherPlans others;
  others.alternatives = {{"all-keep", {false, {11, 22, 33}, 0.5}},
                         {"all-nvme", {true, {4, 5, 6}, 0}}};
  others.more = {{Tier::host, {true, {7, 8, 9}, 0.25}}, {Tier::nvme, {true, {1, 2, 3}, 0}}};
  others.shardings = {{"optimizer", {true, {44, 55, 66}, 0.75}}};
  auto const all = json(others, {.device_bytes = 10, .host_bytes = 12, .nvme_bytes = 40});
  EXPECT_EQ(all.at("alternatives"), nlohmann::json::parse(R"({
      "all-keep": {"fits": false, "step_s": 0.5,
                   "peak_bytes": {"device": 11, "host": 22, "nvme": 33},
                   "missing_bytes": {"device": 1, "host": 10, "nvme": 0}},
      "all-nvme": {"fits": true, "step_s": null,
                   "peak_bytes": {"device": 4, "host": 5, "nvme": 6},
                   "missing_bytes": {"device": 0, "host": 0, "nvme": 0}}})"));
  EXPECT_EQ(all.at("one_more_gib"), nlohmann::json::parse(R"({
      "host": {"step_s": 0.25, "peak_bytes": {"device": 7, "host": 8, "nvme": 9}},
      "nvme": {"step_s": null, "peak_bytes": {"device": 1, "host": 2, "nvme": 3}}})"));
  EXPECT_EQ(all.at("sharding"), nlohmann::json::parse(R"({
      "optimizer": {"fits": true, "step_s": 0.75,
                    "peak_bytes": {"device": 44, "host": 55, "nvme": 66},
                    "missing_bytes": {"device": 34, "host": 43, "nvme": 26}}})"));
}

}  // namespace
}  // namespace spillway::test::plan_reports_test
