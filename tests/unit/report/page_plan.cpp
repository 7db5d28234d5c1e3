// plan.json, plan.yaml and trace.json as a page draws them.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <sstream>

#include "plan/explain/explain.hpp"
#include "report/page/lane_record.hpp"
#include "report/page/memory_record.hpp"
#include "report/page/plan_cells.hpp"
#include "report/page/plan_record.hpp"
#include "report/page/trace_lanes.hpp"
#include "tests/support/small_machine.hpp"
#include "tests/support/tiny_gpt.hpp"

namespace spillway::test::page_plan_test {
namespace {

constexpr std::int64_t kGib = std::int64_t{1} << 30;

// One layer's activations go to the drive, another's are computed again; optimizer state is on the
// host.
class PagePlan : public ::testing::Test {
 protected:
  static Config config(std::int64_t sequences) {
    auto config = tiny_config();
    config.model.layers = 4;
    config.model.hidden = 64;
    config.data.sequence = 64;
    config.batch.sequences = sequences;
    config.debug.kernels = KernelSet::portable;
    config.plan.activations = {BlockPlan{BlockPolicy::nvme, 1},
                               BlockPlan{BlockPolicy::recompute, 1},
                               BlockPlan{BlockPolicy::keep, 1}};
    config.plan.optimizer = {Tier::host};
    return config;
  }
  static PlannedRun planned(std::int64_t sequences) {
    return plan_run(config(sequences), kTinyVocab,
                    {machine(), kBudgets, {.threads = 1, .micro = 2}, /*ranks=*/1});
  }
  static Machine machine() { return small_machine_with_drive(2); }
  static constexpr Budgets kBudgets{kGib, kGib, kGib};

  PlannedRun const m_planned = planned(6);
  Program const& m_program = m_planned.programs.train;
  Simulation const m_simulation = simulate(m_program, machine());
};

std::int64_t sum_at(PageJson const& tier, std::size_t moment) {
  std::int64_t sum = 0;
  for (auto const& [content, bytes] : tier.at("bytes").items())
    sum += bytes.at(moment).get<std::int64_t>();
  return sum;
}

TEST_F(PagePlan, has_each_tiers_bytes_over_the_step_up_to_its_peak) {
  auto const memory = memory_record(m_program, m_simulation, kBudgets, 100'000);
  ASSERT_EQ(memory.size(), 3u);
  for (Tier const tier : kTiersInOrder) {
    auto const& of_tier = memory.at(std::string(name(tier)));
    auto const moments = of_tier.at("at_s").get<std::vector<double>>();
    EXPECT_TRUE(std::ranges::is_sorted(moments));
    EXPECT_LE(moments.back(), m_simulation.step_s);
    std::int64_t most = 0;
    for (std::size_t i = 0; i < moments.size(); ++i) most = std::max(most, sum_at(of_tier, i));
    auto const& peak = of_tier.at("peak");
    EXPECT_EQ(most + peak.at("gap_bytes").get<std::int64_t>(), m_program.peak_bytes[tier]);
    std::int64_t owned = 0;
    for (auto const& owner : peak.at("owners")) owned += owner.at("bytes").get<std::int64_t>();
    EXPECT_EQ(owned, most);
    EXPECT_EQ(of_tier.at("budget_bytes"), kGib);
  }
  EXPECT_TRUE(memory.at("host").at("bytes").contains("optimizer state"));
  EXPECT_FALSE(memory.at("device").at("bytes").contains("optimizer state"));
  EXPECT_TRUE(memory.at("nvme").at("bytes").contains("activations"));
}

TEST_F(PagePlan, keeps_the_peak_where_few_moments_are_shown) {
  auto const memory = memory_record(m_program, m_simulation, kBudgets, 10);
  auto const& device = memory.at("device");
  auto const moments = device.at("at_s").size();
  EXPECT_LE(moments, 12u);
  std::int64_t most = 0;
  for (std::size_t i = 0; i < moments; ++i) most = std::max(most, sum_at(device, i));
  EXPECT_EQ(most + device.at("peak").at("gap_bytes").get<std::int64_t>(),
            m_program.peak_bytes[Tier::device]);
}

double seconds_of(PageJson const& lanes, std::string const& lane) {
  for (auto const& one : lanes.at("lanes")) {
    if (one.at("lane") != lane) continue;
    auto const lengths = one.at("length").get<std::vector<double>>();
    return std::accumulate(lengths.begin(), lengths.end(), 0.0) * 1e-6 *
           lanes.at("step_s").get<double>();
  }
  return 0;
}

TEST_F(PagePlan, has_the_lanes_of_the_step_with_what_each_piece_does) {
  auto const lanes = lanes_of(m_program, m_simulation).to_json(100'000);
  EXPECT_EQ(lanes.at("resolution_s"), 0);
  for (auto const lane : {Lane::compute, Lane::nvme_write, Lane::nvme_read, Lane::host})
    EXPECT_NEAR(seconds_of(lanes, std::string(name(lane))), m_simulation.busy_s[lane],
                1e-3 * m_simulation.step_s)
        << name(lane);
  std::map<std::string, std::set<std::string>> names;
  for (auto const& kind : lanes.at("kinds"))
    names[kind.at("group").get<std::string>()].insert(kind.at("name").get<std::string>());
  EXPECT_TRUE(names["forward"].contains("lm_head_loss_backward") ||
              names["backward"].contains("lm_head_loss_backward"));
  EXPECT_TRUE(names["forward"].contains("attention"));
  EXPECT_TRUE(names["computed again"].contains("attention"));
  EXPECT_FALSE(names["computed again"].contains("embed"));
  EXPECT_TRUE(names["backward"].contains("attention_backward"));
  EXPECT_TRUE(names["update"].contains("adamw"));
  EXPECT_TRUE(names["activations"].contains("copy"));
  EXPECT_TRUE(names["other"].contains("commit"));
}

// With all activations kept, no op of the forward pass runs again in any micro-batch.
TEST_F(PagePlan, calls_nothing_computed_again_that_runs_for_the_first_time) {
  auto kept = config(10);
  kept.plan.activations = {BlockPlan{BlockPolicy::keep, 1}};
  auto const run = plan_run(kept, kTinyVocab, {machine(), kBudgets, {.threads = 1, .micro = 2}, 1});
  auto const simulation = simulate(run.programs.train, machine());
  auto const lanes = lanes_of(run.programs.train, simulation).to_json(100'000);
  for (auto const& kind : lanes.at("kinds")) EXPECT_NE(kind.at("group"), "computed again") << kind;
}

TEST_F(PagePlan, joins_pieces_that_are_too_short_and_loses_no_item) {
  auto const all = lanes_of(m_program, m_simulation).to_json(100'000);
  auto const few = lanes_of(m_program, m_simulation).to_json(40);
  EXPECT_GT(few.at("resolution_s"), 0);
  auto const sum = [](PageJson const& lanes, char const* key) {
    std::int64_t result = 0;
    for (auto const& lane : lanes.at("lanes"))
      for (auto const& value : lane.at(key))
        result += std::string(key) == "items" ? value.get<std::int64_t>() : 1;
    return result;
  };
  EXPECT_LE(sum(few, "kind"), 40);
  EXPECT_EQ(sum(few, "items"), sum(all, "items"));
  EXPECT_EQ(sum(all, "items"), std::ssize(m_simulation.intervals));
}

TEST(MergedPieces, are_named_after_the_longest) {
  auto const piece = [](double start_s, double end_s, std::size_t kind) {
    return LanePiece{start_s, end_s, kind, static_cast<int>(kind), 7, 1, end_s - start_s};
  };
  auto const result =
      merged({piece(0, 1, 0), piece(1, 3, 1), piece(3, 3.5, 2), piece(9, 20, 3)}, 4);
  ASSERT_EQ(result.size(), 2u);
  EXPECT_EQ(result[0].kind, 1u);
  EXPECT_EQ(result[0].block, 1);
  EXPECT_EQ(result[0].items, 3);
  EXPECT_EQ(result[0].end_s, 3.5);
  EXPECT_EQ(result[1].items, 1);
}

TEST_F(PagePlan, is_one_line_of_json_that_knows_its_form) {
  auto const text = plan_record(m_planned, m_simulation, kBudgets);
  EXPECT_EQ(text.find('\n'), text.size() - 1);
  auto const json = PageJson::parse(text);
  EXPECT_EQ(json.at("spillway_plan"), 1);
  EXPECT_EQ(json.at("parameters"), m_planned.train.parameter_count());
  EXPECT_EQ(json.at("trained_parameters"), m_planned.train.parameter_count());
  EXPECT_EQ(json.at("predicted_step_s"), m_simulation.step_s);
  ASSERT_EQ(json.at("layers").size(), 4u);
  EXPECT_GT(json.at("layers")[0].at("activation_bytes").at("nvme"), 0);
  EXPECT_GT(json.at("layers")[1].at("activation_bytes").at("recompute"), 0);
  EXPECT_GT(json.at("layers")[3].at("activation_bytes").at("keep"), 0);
  EXPECT_EQ(json.at("layers")[3].at("activation_bytes").at("nvme"), 0);
  EXPECT_EQ(json.at("chunks").size(), m_planned.train.chunks.size());
  auto const& chunk = json.at("chunks")[2];
  EXPECT_EQ(chunk.at("optimizer_bytes"), 2 * chunk.at("parameter_bytes").get<std::int64_t>());
}

TEST_F(PagePlan, is_read_back_from_plan_yaml_name_by_name) {
  auto const cells = plan_cells(to_yaml(m_planned.plan, m_planned.train));
  ASSERT_EQ(cells.at("columns").size(), m_planned.train.chunks.size());
  auto const& activations = cells.at("rows")[0];
  EXPECT_EQ(activations.at("key"), "activations");
  auto const cell = [&](std::string const& column) {
    auto const columns = cells.at("columns").get<std::vector<std::string>>();
    auto const at = static_cast<std::size_t>(std::ranges::find(columns, column) - columns.begin());
    return activations.at("cells").at(at).get<std::string>();
  };
  EXPECT_EQ(cell("h.0"), "nvme");
  EXPECT_EQ(cell("h.1"), "recompute");
  EXPECT_EQ(cell("h.3"), "keep");
  EXPECT_EQ(cell("head"), "");
  EXPECT_EQ(cells.at("rows")[3].at("key"), "optimizer");
  for (auto const& value : cells.at("rows")[3].at("cells")) EXPECT_EQ(value, "host");
  EXPECT_TRUE(cells.at("settings").contains("prefetch"));
  EXPECT_TRUE(plan_cells("").at("columns").empty());
  EXPECT_TRUE(plan_cells("- a\n  - b # c\n:\n# x\n").at("columns").empty());
}

// A slice of the trace, in the format that run.trace writes.
std::string slice(int process, int track, double ts, double duration, std::string const& name,
                  std::string const& kind, std::string const& args) {
  std::ostringstream text;
  text << R"({"ph":"X","pid":)" << process << R"(,"tid":)" << track << R"(,"ts":)" << ts
       << R"(,"dur":)" << duration << R"(,"name":")" << name << R"(","cat":")" << kind
       << R"(","args":{)" << args << "}},\n";
  return text.str();
}
std::string traced_step(int number, double ts) {
  auto const step = R"("step":)" + std::to_string(number);
  return slice(1, 10, ts, 1000, "step", "step", step + R"(,"step_s":0.001,"word":"go")") +
         slice(1, 100, ts, 300, "matmul h.0/fc", "op",
               step + R"(,"item":4,"phase":"forward","micro_batch":0,"block":1)") +
         slice(1, 100, ts + 300, 300, "matmul h.0/fc.d", "op",
               step + R"(,"item":8,"phase":"backward","micro_batch":0,"block":1)") +
         slice(1, 100, ts + 600, 100, "matmul h.0/fc", "op",
               step + R"(,"item":9,"phase":"forward","micro_batch":0,"block":1)") +
         slice(1, 401, ts + 100, 200, "copy h.1.parameter", "copy", step + R"(,"item":5)") +
         slice(1, 500, ts + 100, 90, "copy h.1.m.slice", "copy", step + R"(,"item":7)") +
         slice(1, 600, ts + 700, 50, "all_gather norms", "all_gather", step + R"(,"item":6)") +
         slice(2, 10, ts, 900, "step", "step", step + R"(,"step_s":0.0009)") +
         slice(2, 100, ts, 900, "matmul h.0/fc", "op", step + R"(,"item":4,"phase":"forward")");
}

TEST(TraceLanes, are_those_of_the_last_traced_steps) {
  std::istringstream lines("[\n{\"ph\":\"M\",\"pid\":1,\"name\":\"process_name\"},\n" +
                           traced_step(3, 0) + traced_step(4, 2000) + traced_step(4, 9000) +
                           slice(1, 100, 10000, 5, "matmul h.0/fc", "op", R"("step":5,"item":4)") +
                           "{\"ph\":\"X\",\"pid\":1,\"ti");  // the job was killed here
  auto const traces = trace_lanes(lines, 1, 1000);
  ASSERT_EQ(traces.size(), 1u);
  EXPECT_EQ(traces[0].at("step"), 4);
  auto const& measured = traces[0].at("measured");
  EXPECT_NEAR(seconds_of(measured, "compute"), 700e-6, 1e-9) << "once, though traced twice";
  EXPECT_NEAR(seconds_of(measured, "nvme_read 2"), 200e-6, 1e-9);
  EXPECT_NEAR(seconds_of(traces[0].at("predicted"), "compute"), 900e-6, 1e-9);
  std::vector<std::string> groups;
  for (auto const& kind : measured.at("kinds")) groups.push_back(kind.at("group"));
  std::ranges::sort(groups);
  EXPECT_EQ(groups, (std::vector<std::string>{"backward", "batch and scalars", "computed again",
                                              "forward", "optimizer state", "parameters"}));
}

TEST(TraceLanes, are_none_where_there_is_no_trace) {
  for (auto const* text : {"", "[\n]\n", "not a trace\n{\"ph\":\"X\"}\n"}) {
    std::istringstream lines(text);
    auto const traces = trace_lanes(lines, 3, 1000);
    EXPECT_TRUE(traces.empty()) << text << traces;
  }
}

}  // namespace
}  // namespace spillway::test::page_plan_test
