// What people read fits a terminal and the log of a batch job: no line is wider than a page.
// Messages are one line each, so that scripts find them, and --items is a table of the Program.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "base/wrapped.hpp"
#include "tests/support/run_program.hpp"

namespace spillway::test::page_width_test {
namespace {

constexpr auto kJob = R"(model: {family: gpt, layers: 4, hidden: 64, heads: 2}
data: {train: t.h5, valid: v.h5, sequence: 64}
batch: {sequences: 8, micro: 4}
precision: fp32
memory: {device: 64MiB, host: 16MiB, nvme: {path: ., size: 32MiB}}
plan: {activations: [nvme, light+host, keep], optimizer: [host, nvme, device], replan: false}
run: {steps: 12, threads: 1, dir: run, log: {every: 1}, eval: {every: 4, batches: 2},
      checkpoint: {every: 4}}
debug: {machine: machine.yaml}
)";

// Returns how many characters a line has. Those of UTF-8 begin with any byte but 10xxxxxx.
std::size_t width(std::string const& line) {
  std::size_t characters = 0;
  for (char const c : line) characters += (static_cast<unsigned char>(c) & 0xc0) != 0x80 ? 1 : 0;
  return characters;
}

class PageWidth : public ::testing::Test {
 protected:
  PageWidth() {
    std::ofstream(m_dir / "job.yaml") << kJob;
    std::filesystem::copy_file(machine_file(), m_dir / "machine.yaml");
    write_token_file(m_dir / "t.h5", 20'000, 500);
    write_token_file(m_dir / "v.h5", 4000, 500);
  }

  // Runs a command in the directory, where all names are short.
  void expect_narrow(std::string const& arguments, int ranks = 0) {
    auto const outcome = run_command(
        fmt::format("cd {} && {} {}", m_dir.string(), spillway_command(ranks), arguments));
    bool const finds_no = outcome.status == 2 && arguments.starts_with("doctor");
    EXPECT_TRUE(outcome.status == 0 || outcome.status == 3 || finds_no)
        << arguments << outcome.output;
    if (outcome.status == 0) {
      EXPECT_GT(outcome.lines().size(), 2u) << arguments << outcome.output;
    }
    for (auto const& line : outcome.lines()) {
      bool const is_message = line.starts_with("spillway: ") || line.starts_with("[");
      if (is_message) continue;
      // A row of figures may end, in words of what bounds a plan, beyond the page.
      bool const ends_in_words =
          arguments.find("--budgets") != std::string::npos && line.find(" % ") != std::string::npos;
      EXPECT_LE(width(line), ends_in_words ? 100 : kPageColumns) << arguments << ":\n" << line;
    }
  }

  std::filesystem::path m_dir = scratch_directory("page_width");
};

TEST_F(PageWidth, holds_for_what_a_run_says_and_for_what_inspect_says_of_it) {
  for (int const ranks : {0, 2}) {
    expect_narrow("train job.yaml", ranks);
    expect_narrow("train job.yaml run.steps=16", ranks);  // it goes on
    expect_narrow("inspect run");
    expect_narrow("inspect run/step-16");
    expect_narrow("top run");
    std::filesystem::rename(m_dir / "run", m_dir / fmt::format("run-of-{}", ranks));
  }
  expect_narrow("inspect .");
}

TEST_F(PageWidth, holds_for_plans_and_for_what_is_asked_of_them) {
  for (auto const* keys : {"", "memory.device=1MiB", "plan.activations=auto plan.optimizer=auto"})
    for (auto const* question : {"", "--compare"})
      expect_narrow(fmt::format("plan job.yaml {} {}", question, keys));
  for (auto const* question : {"--what-if", "--tokens 100B", "--budgets device=4,64MiB",
                               "--largest batch.micro plan.activations=auto"})
    expect_narrow(fmt::format("plan job.yaml {}", question));
  expect_narrow("plan job.yaml --machine machine.yaml --ranks 4 --compare plan.shard=all");
}

// Lines of a configuration whose values are paths or lists may be longer; here they are short.
TEST_F(PageWidth, holds_for_what_a_machine_offers_and_for_all_keys) {
  expect_narrow("doctor .");
  expect_narrow("doctor none");
  expect_narrow("--version");
  expect_narrow("--print-config");
  expect_narrow("--print-config job.yaml");
  expect_narrow("inspect machine.yaml");
  expect_narrow("inspect job.yaml");
}

TEST_F(PageWidth, holds_for_the_help_of_every_command) {
  for (auto const* command : {"", "train", "eval", "profile", "plan", "rok", "generate", "tokenize",
                              "import", "export", "report", "inspect", "top", "doctor"})
    expect_narrow(fmt::format("{} --help", command));
}

// Where the program lies is of no use to readers, and a deep directory would fill the line.
TEST_F(PageWidth, help_calls_the_program_by_its_name) {
  auto const outcome = run_command(fmt::format("{} train --help", spillway_command(0)));
  EXPECT_NE(outcome.output.find("Usage: spillway train "), std::string::npos) << outcome.output;
}

}  // namespace
}  // namespace spillway::test::page_width_test
