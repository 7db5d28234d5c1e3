// These tests ask `spillway plan` how long a run takes and what it costs, what other hardware would
// buy, and what a plan decided against.
#include <fmt/format.h>

#include <regex>

#include "plan_test.hpp"

namespace spillway::test::plan_answers_test {
namespace {

using Json = nlohmann::json;

class PlanAnswers : public PlanTest {
 protected:
  PlanAnswers() {
    write("in.yaml",
          "model: {layers: 3, hidden: 256, heads: 4, vocab: 300}\n"
          "data: {sequence: 128}\nbatch: {sequences: 4, micro: 2}\n"
          "memory: {device: 48MiB, host: 60MiB, nvme: none}\n"
          "plan: {group: 1, parameters: device}\n");
    std::stringstream text;
    text << std::ifstream(kH100).rdbuf();
    write("cheap.yaml", text.str() + "price_per_hour: 2\n");
    write("dear.yaml", text.str() + "price_per_hour: 3\n");
  }
  Outcome plan(std::string const& arguments) {
    return spillway("plan " + path("in.yaml") + " " + arguments);
  }
  Json json(std::string const& arguments) {
    return Json::parse(plan(arguments + " --json").output);
  }
  static double number(Json const& json, char const* key) { return json.at(key).get<double>(); }

  std::string const m_there = "--machine " + path("cheap.yaml") + " ";
};

TEST_F(PlanAnswers, say_how_long_a_run_takes_and_what_it_costs) {
  auto const all = json(m_there + "--tokens 1B --ranks 2");
  auto const& run = all.at("run");
  EXPECT_EQ(run.at("tokens"), 1e9);
  EXPECT_EQ(run.at("steps"), 1'953'125) << "of 512 tokens";
  auto const step_s = number(all.at("predicted"), "step_s");
  EXPECT_NEAR(number(run, "seconds"), 1'953'125 * step_s + number(run, "checkpoints_s"), 1e-3);
  EXPECT_NEAR(number(run, "price"), 2 * 2 * number(run, "seconds") / 3600, 1e-6);
  EXPECT_NEAR(number(run, "energy_kwh"), 1.275 * 2 * number(run, "seconds") / 3600, 1e-6);
  auto const text = plan(m_there + "--tokens 1B --ranks 2").output;
  EXPECT_NE(text.find("\nA run of 1B tokens: 1953125 steps take "), text.npos) << text;
  EXPECT_NE(text.find(", at 2 an hour a rank\n"), text.npos) << text;
  EXPECT_FALSE(json(m_there).contains("run"));
  auto const wrong = plan(m_there + "--tokens 100G");
  EXPECT_EQ(wrong.status, 2);
  EXPECT_NE(wrong.output.find("--tokens: '100G' is no number of tokens"), wrong.output.npos)
      << wrong.output;
  EXPECT_EQ(plan(m_there + "--tokens 1B --items").status, 2);
}

TEST_F(PlanAnswers, go_with_tables_and_mark_what_is_cheapest) {
  auto const machines = fmt::format("--machines {},{} ", path("dear.yaml"), path("cheap.yaml"));
  auto const table = json(machines + "--tokens 1B");
  EXPECT_EQ(table.at("cheapest"), 1);
  EXPECT_EQ(table.at("rows")[1].at("run"), json(m_there + "--tokens 1B").at("run"));
  EXPECT_NE(plan(machines).output.find("; the cheapest is cheap"), std::string::npos);
  auto const largest = json(m_there + "--largest batch.micro --tokens 1B");
  for (auto const& one : largest.at("tried")) {
    if (!one.at("fits").get<bool>()) continue;
    auto const key = fmt::format("batch.micro={}", one.at("value").get<int>());
    EXPECT_EQ(one.at("run"), json(m_there + key + " --tokens 1B").at("run")) << key;
  }
  auto const text = plan(m_there + "--largest batch.micro --tokens 1B").output;
  EXPECT_NE(text.find("tokens/s      1B take        kWh         price\n"), text.npos) << text;
}

TEST_F(PlanAnswers, say_what_other_hardware_would_buy) {
  auto const all = json(m_there + "--what-if");
  auto const now = json(m_there);
  EXPECT_EQ(all.at("step_s"), now.at("predicted").at("step_s"));
  EXPECT_EQ(all.at("micro"), 2);
  auto const& rows = all.at("what_if");
  EXPECT_EQ(rows.size(), 4u) << "without a drive";
  auto const twice = json(m_there + "memory.device=96MiB").at("predicted");
  auto const& row = rows.at("twice_the_device_memory");
  EXPECT_EQ(row.at("step_s"), twice.at("step_s"));
  EXPECT_NEAR(number(row, "ratio"), number(row, "step_s") / number(all, "step_s"), 1e-9);
  auto const unclipped = json(m_there + "optim.clip=0").at("predicted");
  EXPECT_LE(number(rows.at("without_clipping"), "step_s"), number(unclipped, "step_s"));
  auto const text = plan(m_there + "--what-if");
  EXPECT_EQ(text.status, 0);
  EXPECT_TRUE(text.output.starts_with("What if, with micro-batches of 2 sequences\n"))
      << text.output;
  EXPECT_EQ(plan(m_there + "--what-if --compare").status, 2);
  EXPECT_EQ(plan(m_there + "--what-if --budgets device=1,2MiB").status, 2);
  auto const unlike = m_there + "--ranks 2 batch.share=[3,1] batch.micro=1 plan.shard=all ";
  auto const refused = plan(unlike + "--what-if");
  EXPECT_EQ(refused.status, 2);
  EXPECT_TRUE(refused.output.starts_with("spillway: plan.shard: all: ")) << refused.output;
  EXPECT_EQ(refused.output, plan(unlike).output);
}

TEST_F(PlanAnswers, name_the_change_with_which_it_fits) {
  auto const small = m_there + "memory.device=40MiB --what-if";
  auto const all = json(small);
  EXPECT_EQ(all.at("fits"), false);
  for (auto const& [name, row] : all.at("what_if").items()) {
    EXPECT_EQ(row.at("fits"), name == "twice_the_device_memory") << name;
    EXPECT_TRUE(row.at("ratio").is_null()) << name;
  }
  auto const text = plan(small);
  EXPECT_EQ(text.status, 3);
  EXPECT_TRUE(text.output.ends_with("\nIt fits with twice the device memory.\n")) << text.output;
}

TEST_F(PlanAnswers, say_what_a_plan_decided_against) {
  auto const all = json(m_there);
  auto const& why_not = all.at("why_not");
  ASSERT_FALSE(why_not.empty());
  auto const text = plan(m_there).output;
  EXPECT_NE(text.find("\nWhy not otherwise? This plan with one choice changed\n"), text.npos)
      << text;
  for (auto const& one : why_not) {
    auto const at = text.find("\n  " + one.at("choice").get<std::string>() + " ");
    ASSERT_NE(at, text.npos) << one << text;
    auto const line = text.substr(at + 1, text.find('\n', at + 1) - at - 1);
    EXPECT_EQ(line.find("does not fit") == line.npos, one.at("fits").get<bool>()) << line;
    EXPECT_LE(line.size(), 100u) << line;
  }
  EXPECT_NE(text.find("\nBusiest: "), text.npos);
  EXPECT_GT(number(all.at("busiest"), "share"), 0);
}

// These are options and names of changes as docs/answers.md has them.
TEST_F(PlanAnswers, have_the_options_and_keys_that_their_page_names) {
  std::stringstream page;
  page << std::ifstream(SPILLWAY_SOURCE_DIR "/docs/answers.md").rdbuf();
  auto const text = page.str();
  auto const help = spillway("plan --help").output;
  int options = 0;
  std::regex const option("--[a-z][-a-z]+");
  for (std::sregex_iterator at(text.begin(), text.end(), option), end; at != end; ++at, ++options)
    EXPECT_NE(help.find(at->str() + " "), std::string::npos) << at->str();
  EXPECT_GT(options, 5);
  auto const run = json(m_there + "--tokens 1B").at("run");
  auto const rows =
      json(m_there + "memory.nvme.path=auto memory.nvme.size=1GiB --what-if").at("what_if");
  EXPECT_EQ(rows.size(), 5u);
  for (auto const& all : {run, rows})
    for (auto const& [key, value] : all.items())
      EXPECT_NE(text.find("`" + key + "`"), std::string::npos) << key;
}

}  // namespace
}  // namespace spillway::test::plan_answers_test
