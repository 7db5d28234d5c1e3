// Directories of several runs, made up by hand, in a table.
#include <gtest/gtest.h>

#include <fstream>

#include "config/print.hpp"
#include "monitor/runs_table.hpp"
#include "report/metrics.hpp"
#include "tests/support/in_directory.hpp"

namespace spillway::test::runs_tables_test {
namespace {

namespace fs = std::filesystem;

class RunsTables : public InDirectory {
 protected:
  void make_run(std::string const& name, double lr, std::int64_t device_bytes) const {
    fs::create_directory(m_dir / name);
    Config config;
    config.model.vocab = 256;
    config.data.train = {"tokens.h5"};
    config.run.dir = (m_dir / name).string();
    config.run.steps = 40;
    config.optim.lr = lr;
    config.memory.device_bytes = device_bytes;
    write(name, "config.yaml", to_yaml(config));
    write(name, "lock", "4242\n");
  }
  void add_step(std::string const& name, std::int64_t step, double loss, double valid) const {
    StepMetrics row;
    row.step = step;
    row.loss = {loss, 1};
    row.step_s = 0.5;
    row.valid = LossSums{valid, 1};
    write(name, "metrics.jsonl", to_json(row) + "\n");
  }
  void add_event(std::string const& name, RunEvent const& event) const {
    write(name, "metrics.jsonl", to_json(event, 1'000'000'000) + "\n");
  }

 private:
  void write(std::string const& run, char const* file, std::string const& text) const {
    std::ofstream(m_dir / run / file, std::ios::app) << text;
  }
};

TEST_F(RunsTables, say_how_far_each_is_and_what_is_its_own) {
  make_run("2", 0.001, 1 << 30);
  make_run("10", 0.002, 1 << 29);
  fs::create_directory(m_dir / "no-run");
  add_event("2", {"start", 0});
  add_step("2", 1, 4, 3.5);
  add_step("2", 40, 2, 3.75);
  RunEvent end{"end", 40};
  end.exit = 0;
  add_event("2", end);
  add_event("10", {"start", 0});
  add_step("10", 7, 5, 5);
  EXPECT_EQ(runs_table(read_runs(m_dir), m_dir),
            "run  state              step     loss    valid   a step     left\n"
            "2    done              40/40   2.0000   3.5000   500 ms        -  optim.lr=0.001\n"
            "10   told no end        7/40   5.0000   5.0000   500 ms        -  optim.lr=0.002\n");
}

TEST_F(RunsTables, are_empty_where_no_run_lies) {
  EXPECT_TRUE(read_runs(m_dir).empty());
  EXPECT_TRUE(read_runs(m_dir / "none").empty());
}

// As of the directory in which somebody works.
TEST_F(RunsTables, have_the_runs_one_directory_further_down_where_none_lies_here) {
  fs::create_directories(m_dir / "runs");
  make_run("runs/a", 0.001, 1 << 30);
  auto const names_below = [](fs::path const& directory) {
    return runs_table(read_runs(directory), directory);
  };
  EXPECT_NE(names_below(m_dir).find("\nruns/a  not begun"), std::string::npos)
      << names_below(m_dir);
  EXPECT_NE(names_below(m_dir / "runs/").find("\na    not begun"), std::string::npos)
      << names_below(m_dir / "runs/");
  make_run("b", 0.001, 1 << 30);
  EXPECT_EQ(read_runs(m_dir).size(), 1u);
}

// A run whose config.yaml cannot be read still has a line, which says so.
TEST_F(RunsTables, name_what_cannot_be_read) {
  make_run("a", 0.001, 1 << 30);
  fs::create_directory(m_dir / "b");
  std::ofstream(m_dir / "b" / "config.yaml") << "model: [";
  auto const table = runs_table(read_runs(m_dir), m_dir);
  EXPECT_NE(table.find("not begun"), table.npos) << table;
  EXPECT_NE(table.find("config.yaml"), table.npos) << table;
}

}  // namespace
}  // namespace spillway::test::runs_tables_test
