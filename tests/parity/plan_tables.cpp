// `spillway plan` that makes many plans: --largest, and tables by --budgets, --machines,
// --optimizers and --ranks.
#include <fmt/format.h>

#include "plan_test.hpp"
#include "tests/support/sample.hpp"

namespace spillway::test::plan_tables_test {
namespace {

using Json = nlohmann::json;

class PlanTables : public PlanTest {
 protected:
  PlanTables() {
    write("in.yaml",
          "model: {layers: 6, hidden: 256, heads: 4, vocab: 300}\n"
          "data: {sequence: 128}\nbatch: {sequences: 16, micro: 2}\n"
          "memory: {device: 150MiB, host: 80MiB, nvme: none}\n");
  }
  Outcome plan(std::string const& arguments) {
    return spillway("plan " + path("in.yaml") + " " + arguments);
  }
  Json table(std::string const& arguments) {
    return Json::parse(plan(arguments + " --json").output);
  }

  // What the row says must be what a plan of its own says. An ordinary run asks for every third of
  // these plans.
  void expect_equal(Json const& row, std::string const& arguments) {
    constexpr std::uint64_t every = 3;
    if (!takes_all() && m_rows++ % every != turn_of(every)) return;
    auto const alone = plan(arguments + " --json");
    EXPECT_EQ(row.at("fits"), alone.status == 0) << arguments << row;
    if (!row.at("fits")) {
      EXPECT_TRUE(alone.output.ends_with("spillway: " + row.at("why").get<std::string>() + "\n"))
          << alone.output;
      return;
    }
    auto const predicted = Json::parse(alone.output).at("predicted");
    for (auto const* key : {"step_s", "tokens_per_s", "peak_bytes"})
      EXPECT_EQ(row.at(key), predicted.at(key)) << arguments << key;
  }
  std::uint64_t m_rows = 0;  // how many were compared, or would have been
  static int count(std::string const& text, std::string const& words) {
    int number = 0;
    for (auto at = text.find(words); at != text.npos; at = text.find(words, at + 1)) ++number;
    return number;
  }
};

// What is named fits, and one layer more does not.
TEST_F(PlanTables, names_the_largest_value_that_fits_and_the_fastest) {
  auto const plan = "plan " + path("in.yaml") + " --machine " + kH100 + " ";
  auto const layers =
      nlohmann::json::parse(spillway(plan + "--json --largest model.layers").output);
  auto const most = layers.at("largest").get<int>();
  ASSERT_LT(most, 64) << "so that it is exact";
  EXPECT_EQ(spillway(plan + fmt::format("model.layers={}", most)).status, 0);
  EXPECT_EQ(spillway(plan + fmt::format("model.layers={}", most + 1)).status, 3);
  for (auto const& one : layers.at("tried")) {
    EXPECT_EQ(one.at("fits"), one.at("value").get<int>() <= most);
    EXPECT_EQ(one.contains("why"), !one.at("fits"));
  }
  auto const micro = spillway(plan + "--largest batch.micro");
  EXPECT_NE(micro.output.find("\nThe largest that fits is batch.micro=16, and the fastest "),
            std::string::npos)
      << micro.output;
  EXPECT_EQ(spillway(plan + "--largest model.layers memory.device=1MiB").status, 3);
  EXPECT_EQ(spillway(plan + "--largest plan.group").status, 2);
  EXPECT_EQ(spillway(plan + "--largest model.layers --compare").status, 2);
}

// 2 bytes a parameter of its master's lower half, and what each optimizer keeps besides: 8, 2 and a
// scale for 256 elements, 4, nothing, little, and 4 or (embeddings) 8.
TEST_F(PlanTables, say_what_each_optimizer_keeps) {
  auto const json =
      table("--machine " + kH100 + " --optimizers adamw,adamw_8bit,lion,sgd,adafactor,muon");
  std::vector<double> kept;
  for (auto const& row : json.at("rows")) {
    expect_equal(row,
                 "--machine " + kH100 + " optim.name=" + row.at("optimizer").get<std::string>());
    kept.push_back(row.at("state_bytes").get<double>() /
                   json.at("rows")[3].at("state_bytes").get<double>());
  }
  ASSERT_EQ(kept.size(), 6u);
  EXPECT_EQ(kept[0], 5);
  EXPECT_NEAR(kept[1], 2 + 1 / 64.0, 0.02) << "parameters begin with blocks";
  EXPECT_EQ(kept[2], 3);
  EXPECT_GT(kept[4], 1);
  EXPECT_LT(kept[4], 1.1);
  EXPECT_GT(kept[5], 3);
  EXPECT_LT(kept[5], 5);
  auto const text = plan("--machine " + kH100 + " --optimizers adamw,lion").output;
  EXPECT_EQ(text.find("optimizer  "), 0u) << text;
  EXPECT_NE(text.find("  state  "), std::string::npos) << text;
  // What the input says of keys that others lack is of its own optimizer.
  EXPECT_EQ(plan("--machine " + kH100 + " --optimizers adamw,sgd optim.eps=1e-6").status, 0);
  EXPECT_EQ(
      plan("--optimizers adamw,adagrad").output,
      "spillway: --optimizers adamw,adagrad: adagrad is none of adamw, adamw_8bit, lion, sgd, "
      "adafactor, muon\n");
  EXPECT_EQ(plan("--optimizers lion,lion").status, 2);
}

TEST_F(PlanTables, say_of_each_combination_what_its_own_plan_says) {
  auto const json = table("--machines " + kH100 + "," + kRtx3090 +
                          " --budgets device=60,150,40960MiB --budgets host=8,80MiB batch.micro=8");
  EXPECT_EQ(json.at("varied"), Json({"machine", "device", "host"}));
  ASSERT_EQ(json.at("rows").size(), 12u);
  auto row = json.at("rows").begin();
  int fit = 0;
  for (auto const& machine : {kH100, kRtx3090}) {
    for (int const device : {60, 150, 40960}) {
      for (int const host : {8, 80}) {
        EXPECT_EQ(row->at("machine"), machine);
        EXPECT_EQ(row->at("device"), std::int64_t{device} << 20);
        EXPECT_EQ(row->at("host"), std::int64_t{host} << 20);
        fit += row->at("fits") ? 1 : 0;
        expect_equal(*row++,
                     fmt::format("--machine {} memory.device={}MiB memory.host={}MiB batch.micro=8",
                                 machine, device, host));
      }
    }
  }
  EXPECT_GT(fit, 1);
  EXPECT_LT(fit, 10) << "an RTX 3090 has no 40 GiB";
}

TEST_F(PlanTables, have_any_drive_that_a_machine_has_and_several_numbers_of_ranks) {
  auto const json =
      table("--machine " + kH100 +
            " --ranks 1,2 --budgets nvme=none,auto,1GiB model.layers=2 batch.micro=8");
  EXPECT_EQ(json.at("varied"), Json({"ranks", "nvme"}));
  auto row = json.at("rows").begin();
  for (int const ranks : {1, 2}) {
    for (std::string const nvme : {"nvme=none", "nvme=auto", "nvme={path: auto, size: 1GiB}"}) {
      EXPECT_EQ(row->at("ranks"), ranks);
      expect_equal(*row++,
                   fmt::format("--machine {} --ranks {} model.layers=2 batch.micro=8 \"memory.{}\"",
                               kH100, ranks, nvme));
    }
  }
  EXPECT_EQ(json.at("rows")[0].at("nvme"), "none");
  EXPECT_EQ(json.at("rows")[2].at("nvme"), 1 << 30);
}

TEST_F(PlanTables, end_with_the_fastest_row_and_the_least_budgets_that_fit) {
  auto const options =
      "--machine " + kH100 + " --budgets device=1,60,150MiB --budgets host=80,90MiB";
  auto const json = table(options);
  auto const& rows = json.at("rows");
  auto const& fastest = rows[json.at("fastest").get<std::size_t>()];
  Json least;
  for (auto const& row : rows) {
    if (!row.at("fits")) continue;
    EXPECT_GE(fastest.at("tokens_per_s"), row.at("tokens_per_s"));
    if (least.is_null() || row.at("device") < least) least = row.at("device");
  }
  ASSERT_EQ(least, 60 << 20) << "1 MiB is too little";
  EXPECT_EQ(json.at("least").at("device"), least);
  auto const text = plan(options);
  EXPECT_EQ(text.status, 0);
  auto const lines = text.lines();
  ASSERT_GE(lines.size(), rows.size() + 2);  // what does not fit may take two lines
  EXPECT_TRUE(lines[0].starts_with("device   host ")) << lines[0];
  EXPECT_NE(lines[1].find("does not fit: needs at least memory.device="), std::string::npos)
      << lines[1];
  auto const last = lines[lines.size() - 2] + " " + lines.back();  // a line that was wrapped
  EXPECT_TRUE(last.starts_with("The fastest is device=")) << last;
  EXPECT_NE(last.find("; the least that fits is device=60MiB, host=80MiB."), std::string::npos)
      << last;
  for (auto const& line : lines) EXPECT_LE(line.size(), 100u) << line;
}

TEST_F(PlanTables, exit_as_refusals_do_if_nothing_fits) {
  auto const options = "--machine " + kH100 + " --budgets device=1,2MiB";
  auto const text = plan(options);
  EXPECT_EQ(text.status, 3) << text.output;
  EXPECT_TRUE(text.output.ends_with("\nNone of them fits.\n")) << text.output;
  auto const json = table(options);
  EXPECT_TRUE(json.at("fastest").is_null());
  EXPECT_EQ(json.at("least"), Json::object());
  // No machine has so much: that is a mistake, not a question.
  EXPECT_EQ(plan("--machine " + kH100 + " --budgets device=900,901TiB").status, 2);
}

TEST_F(PlanTables, begin_only_if_nothing_is_wrong) {
  write("broken.yaml", "matmul_gflops: many\n");
  auto const there = "--machine " + kH100 + " ";
  auto const refused = [&](std::string const& arguments, std::string const& words) {
    auto const outcome = plan(arguments);
    EXPECT_EQ(outcome.status, 2) << arguments << outcome.output;
    EXPECT_EQ(outcome.lines().size(), 1u) << outcome.output;
    EXPECT_NE(outcome.output.find(words), std::string::npos) << words << "\n" << outcome.output;
  };
  refused(there + "--budgets disk=1,2GiB", "'disk' is no memory; give device, host or nvme");
  refused(there + "--budgets device=", "a value is missing");
  refused(there + "--budgets device=100MiB,none", "memory.device: expected a size");
  refused(there + "--budgets device=1,2GiB --budgets device=3GiB", "device is given twice");
  refused(there + "--budgets nvme=1GiB,none plan.activations=nvme", "nvme needs memory.nvme");
  refused(there + "--ranks 2,2", "--ranks: 2 is there twice");
  refused(there + "--machines " + kRtx3090, "--machine does not go with it");
  refused("--machines " + kRtx3090 + "," + path("none.yaml"), "none.yaml: cannot be read");
  refused("--machines " + kRtx3090 + "," + path("broken.yaml"), "broken.yaml:1: ");
  refused("--machines " + kRtx3090 + ",", "a file is missing between commas");
  refused("--ranks 1,2", "this machine is measured for one number of ranks");
  refused("--budgets nvme=1GiB", "memory.nvme.path: needed with memory.nvme.size");
  for (std::string const other : {"--items", "--compare", "--save x", "--largest model.layers"})
    refused(there + "--budgets device=1,2GiB " + other, "do not go with them");
  std::string many = "1";
  for (int ranks = 2; ranks <= 33; ++ranks) many += fmt::format(",{}", ranks);
  refused(there + "--budgets device=1,2GiB --ranks " + many, "at most 64 plans");
}

// A list behind the first one would be taken for a key of the input file.
TEST_F(PlanTables, show_one_list_behind_each_option) {
  auto const help = spillway("plan --help").output;
  EXPECT_NE(help.find("--budgets TIER=LIST "), std::string::npos) << help;
  EXPECT_EQ(help.find("TIER=LIST ..."), std::string::npos) << help;
}

// Nowhere to keep what was measured, and still all rows go by the same numbers.
TEST_F(PlanTables, measure_this_machine_once_and_say_nothing_twice) {
  write("in.yaml",
        "model: {layers: 2, hidden: 64, heads: 2, vocab: 300}\n"
        "data: {sequence: 64}\nbatch: {sequences: 4, micro: 2}\nmemory: {device: 16MiB}\n");
  auto const here = "HOME= XDG_CACHE_HOME= " + spillway_command(0) + " plan " + path("in.yaml");
  auto const outcome = run_command(here + " --budgets device=8,16,32MiB --ranks 2 --json");
  ASSERT_EQ(outcome.status, 0) << outcome.output;
  EXPECT_EQ(count(outcome.output, "profile: measured "), 1) << outcome.output;
  EXPECT_EQ(count(outcome.output, "not kept for the next run"), 1) << outcome.output;
  auto const json = Json::parse(outcome.output.substr(outcome.output.find('{')));
  ASSERT_EQ(json.at("rows").size(), 3u);
  for (auto const& row : json.at("rows"))
    EXPECT_EQ(row.at("step_s"), json.at("rows")[0].at("step_s"));
  auto const largest = run_command(here + " --largest model.layers --json");
  ASSERT_EQ(largest.status, 0) << largest.output;
  EXPECT_GT(Json::parse(largest.output.substr(largest.output.find('{'))).at("largest"), 2);
}

}  // namespace
}  // namespace spillway::test::plan_tables_test
