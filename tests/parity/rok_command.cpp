// `spillway rok`: every point is a run of its own, and what was planned for it is what it took.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "tests/support/run_program.hpp"

namespace spillway::test::rok_command_test {
namespace {

using Row = std::map<std::string, std::string>;  // cells by column

std::vector<std::string> cells(std::string const& line) {
  std::vector<std::string> result;
  std::istringstream text(line + ",");  // so that an empty last cell counts
  for (std::string cell; std::getline(text, cell, ',');) result.push_back(cell);
  return result;
}

std::int64_t number(Row const& row, char const* column) {
  return std::stoll(row.at(column));
}

class RokCommand : public testing::Test {
 protected:
  RokCommand() {
    write("in.yaml",
          "model: {layers: 6, hidden: 64, heads: 2, vocab: 300}\n"
          "data: {sequence: 128}\n"
          "batch: {sequences: 8, micro: 4}\n"
          "memory: {device: 1GiB, nvme: {path: " +
              m_dir.string() + ", size: 1GiB}}\nrun: {threads: 1}\n");
  }

  Outcome rok(std::string const& arguments, std::string const& before = "") {
    return run_command(before + spillway_command(0) + " rok " + path("in.yaml") + " -o " +
                       path("rok.csv") + " " + arguments);
  }
  std::string path(std::string const& name) const { return (m_dir / name).string(); }
  void write(std::string const& name, std::string const& text) const {
    std::ofstream(m_dir / name) << text;
  }
  std::string read(std::string const& name) const {
    std::ifstream file(m_dir / name);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  // Of points of one policy for all layers.
  std::vector<Row> rows() const {
    auto rows = all_rows();
    std::erase_if(rows, [](Row const& row) { return row.at("policy") == "auto"; });
    return rows;
  }
  std::vector<Row> all_rows() const {
    std::istringstream text(read("rok.csv"));
    std::string line;
    std::getline(text, line);
    auto const names = cells(line);
    std::vector<Row> result;
    while (std::getline(text, line)) {
      auto const values = cells(line);
      EXPECT_EQ(values.size(), names.size()) << line;
      auto& row = result.emplace_back();
      for (std::size_t i = 0; i < std::min(names.size(), values.size()); ++i)
        row[names[i]] = values[i];
    }
    return result;
  }

  std::filesystem::path m_dir = scratch_directory("rok_command");
};

void expect_as_planned(Row const& row) {
  for (std::string const tier : {"device", "host", "nvme"}) {
    EXPECT_EQ(row.at("peak_" + tier + "_bytes"), row.at("planned_peak_" + tier + "_bytes"))
        << row.at("policy") << ", " << tier;
  }
}

// Half of the micro-batch, it, and the double; the host tier is off.
TEST_F(RokCommand, measures_every_policy_at_three_sizes_as_planned) {
  auto const outcome = rok("");
  ASSERT_EQ(outcome.status, 0) << outcome.output;
  std::map<std::string, std::map<std::string, std::int64_t>> activations;  // by micro and policy
  for (Row const& row : rows()) {
    EXPECT_EQ(row.at("fits"), "yes");
    EXPECT_EQ(row.at("sequences"), row.at("micro"));
    expect_as_planned(row);
    EXPECT_GT(std::stod(row.at("least_step_s")), 0);
    EXPECT_LE(std::stod(row.at("least_step_s")), std::stod(row.at("step_s")));
    EXPECT_LE(std::stod(row.at("step_s")), std::stod(row.at("most_step_s")));
    EXPECT_GT(std::stod(row.at("predicted_step_s")), 0);
    EXPECT_NEAR(std::stod(row.at("tokens_per_s")) * std::stod(row.at("step_s")),
                static_cast<double>(128 * number(row, "micro")), 0.01);
    EXPECT_EQ(number(row, "spilled_bytes") > 0, row.at("policy").ends_with("nvme"));
    // All that is there at once is written once a step; the end of a step may count as the next's.
    EXPECT_GE(2 * number(row, "spilled_bytes"), number(row, "peak_nvme_bytes"));
    EXPECT_LE(number(row, "spilled_bytes"), 2 * number(row, "peak_nvme_bytes"));
    activations[row.at("micro")][row.at("policy")] = number(row, "activation_peak_bytes");
  }
  std::set<std::string> sizes;
  for (auto const& [micro, by_policy] : activations) {
    sizes.insert(micro);
    EXPECT_EQ(by_policy.size(), 6);
    for (auto const& [policy, bytes] : by_policy) {
      if (policy != "keep") {
        EXPECT_LT(bytes, by_policy.at("keep")) << policy << ", " << micro;
      }
    }
    EXPECT_LT(by_policy.at("recompute"), by_policy.at("light"));
    EXPECT_LT(by_policy.at("nvme"), by_policy.at("light"));
  }
  EXPECT_EQ(sizes, (std::set<std::string>{"2", "4", "8"}));
}

TEST_F(RokCommand, with_a_host_tier_activations_go_there_too) {
  auto const outcome = rok("memory.host=1GiB --micro 2");
  ASSERT_EQ(outcome.status, 0) << outcome.output;
  std::set<std::string> policies;
  for (Row const& row : rows()) {
    policies.insert(row.at("policy"));
    expect_as_planned(row);
    EXPECT_EQ(number(row, "peak_host_bytes") > 0, row.at("policy").ends_with("host"));
  }
  EXPECT_EQ(policies,
            (std::set<std::string>{"host", "keep", "light", "light+host", "light+nvme", "nvme",
                                   "recompute", "recompute+host", "recompute+nvme"}));
}

TEST_F(RokCommand, what_does_not_fit_is_a_row_that_says_so) {
  ASSERT_EQ(rok("--micro 8").status, 0);
  std::int64_t most = 0, least = std::numeric_limits<std::int64_t>::max();
  for (Row const& row : rows()) {
    most = std::max(most, number(row, "peak_device_bytes"));
    least = std::min(least, number(row, "peak_device_bytes"));
  }
  auto const budget = (least + most) / 2;
  auto const outcome = rok("--micro 8 memory.device=" + std::to_string(budget));
  ASSERT_EQ(outcome.status, 0) << outcome.output;
  EXPECT_NE(
      outcome.output.find("keep, 8 x 128 tokens: does not fit: needs at least memory.device="),
      std::string::npos)
      << outcome.output;
  for (Row const& row : rows()) {
    bool const fits = number(row, "planned_peak_device_bytes") <= budget;
    EXPECT_EQ(row.at("fits"), fits ? "yes" : "no");
    EXPECT_EQ(row.at("peak_device_bytes").empty(), !fits);
    if (row.at("policy") == "keep") {
      EXPECT_FALSE(fits);
    }
    if (row.at("policy") == "nvme") {
      EXPECT_TRUE(fits);
    }
  }

  auto const nothing = rok("--micro 8 memory.device=64KiB");
  EXPECT_EQ(nothing.status, 3);
  EXPECT_NE(nothing.output.find("no point fits the budgets"), std::string::npos) << nothing.output;
  for (Row const& row : rows()) EXPECT_EQ(row.at("fits"), "no");
}

// Tokens of the user's own are used where there are some, and bring the vocabulary.
TEST_F(RokCommand, trains_on_the_data_that_is_given) {
  write_token_file(m_dir / "tokens.h5", 5000);
  auto const data = "data.train=" + path("tokens.h5");
  EXPECT_EQ(rok("--micro 1 model.vocab=100 " + data).status, 2);  // the file has 256
  auto const outcome = rok("--micro 1 model.vocab=0 " + data);
  EXPECT_EQ(outcome.status, 0) << outcome.output;
  EXPECT_EQ(rows().size(), 6);
}

// The chart may be what is named, or lie elsewhere.
TEST_F(RokCommand, draws_a_curve_for_every_policy) {
  if (!tool_exists("gnuplot")) GTEST_SKIP() << "no gnuplot";
  auto const outcome = rok("--micro 1,2 --svg " + path("there.svg"));
  ASSERT_EQ(outcome.status, 0) << outcome.output;
  for (auto const* name : {"rok.csv", "there.svg"})
    EXPECT_NE(outcome.output.find("\nwrote " + path(name) + "\n"), std::string::npos) << name;
  auto const chart = read("there.svg");
  EXPECT_FALSE(std::filesystem::exists(path("rok.svg")));
  EXPECT_NE(chart.find("gpt, 6 layers of 64, bf16"), std::string::npos);
  EXPECT_NE(chart.find("numbers: sequences of 128 tokens a step"), std::string::npos);
  std::filesystem::remove(path("rok.csv"));
  auto const named = run_command(spillway_command(0) + " rok " + path("in.yaml") +
                                 " --micro 1 -o " + path("rok.svg"));
  ASSERT_EQ(named.status, 0) << named.output;
  EXPECT_EQ(all_rows().size(), 9u);
  EXPECT_NE(read("rok.svg").find(">planned by spillway<"), std::string::npos);
  for (std::string const policy : {"planned by spillway", "keep", "light", "recompute", "nvme",
                                   "light+nvme", "recompute+nvme"})
    EXPECT_NE(chart.find(">" + policy + "<"), std::string::npos) << policy;
  auto const parsed = run_command(
      "python3 -c \"import sys, xml.dom.minidom as dom; "
      "dom.parse(sys.argv[1])\" " +
      path("there.svg"));
  EXPECT_EQ(parsed.status, 0) << parsed.output;
}

// A name that gnuplot or a shell might take for more than a name.
TEST_F(RokCommand, takes_any_name_for_a_name) {
  if (!tool_exists("gnuplot")) GTEST_SKIP() << "no gnuplot";
  auto const name = "\"|touch ran; \\$(touch ran) %.csv\"";
  auto const outcome = run_command("cd " + m_dir.string() + " && " + spillway_command(0) +
                                   " rok in.yaml --micro 1 -o " + name);
  ASSERT_EQ(outcome.status, 0) << outcome.output;
  EXPECT_FALSE(std::filesystem::exists(m_dir / "ran"));
}

TEST_F(RokCommand, without_gnuplot_there_is_the_curve_and_a_line_that_says_what_is_missing) {
  auto const links = "mkdir " + path("bin") + "; for folder in $(echo $PATH | tr : \" \"); do " +
                     "ln -sf $folder/* " + path("bin") + "; done; rm -f " + path("bin") +
                     "/gnuplot*; ";  // MPI looks for tools of its own
  auto const outcome = rok("--micro 1", links + "PATH=" + path("bin") + " ");
  ASSERT_EQ(outcome.status, 0) << outcome.output;
  EXPECT_NE(outcome.output.find("gnuplot is not installed (apt: gnuplot-nox"), std::string::npos)
      << outcome.output;
  EXPECT_EQ(rows().size(), 6);
  EXPECT_FALSE(std::filesystem::exists(m_dir / "rok.svg"));
}

}  // namespace
}  // namespace spillway::test::rok_command_test
