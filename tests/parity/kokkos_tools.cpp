// Tools of Kokkos, as profilers are, see the ops of a run by their names and change no bit of it.
#include <fmt/format.h>

#include <fstream>
#include <set>

#include "plan/listing/listing.hpp"
#include "tests/parity/experiment.hpp"
#include "tests/support/run_program.hpp"

namespace spillway::test::kokkos_tools_test {
namespace {

std::string const kTool = SPILLWAY_NOTING_TOOL;

struct Notes {
  std::set<std::string> regions, kernels;
  int open = 0;               // regions that were begun and not ended
  bool kernel_alone = false;  // whether a kernel of an op was outside of all regions
  std::string end;
};

Notes read_notes(std::filesystem::path const& path) {
  Notes notes;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    notes.end = line;
    if (line == "pop") --notes.open;
    if (line.starts_with("push ")) ++notes.open, notes.regions.insert(line.substr(5));
    if (!line.starts_with("kernel ")) continue;
    notes.kernels.insert(line.substr(7));
    notes.kernel_alone |= notes.open == 0 && line.starts_with("kernel spillway::");
  }
  return notes;
}

bool says(Outcome const& outcome, std::string const& words) {
  return outcome.output.find(words) != outcome.output.npos;
}

class KokkosTools : public testing::Test {
 protected:
  Outcome command(std::string const& before, std::string const& arguments) {
    return run_command(fmt::format("SPILLWAY_NOTES={} {} {} {}", m_notes.string(), before,
                                   spillway_command(0), arguments));
  }
  std::string input() const { return (m_experiment.directory() / "in.yaml").string(); }

  Experiment const m_experiment{"kokkos_tools", 0, {"run.steps=2", "model.layers=1"}};
  std::filesystem::path const m_notes = m_experiment.directory() / "notes.txt";
};

TEST_F(KokkosTools, see_ops_by_the_names_that_items_have) {
  auto const plain = m_experiment.run("plain");
  test::Run seen;
  seen.dir = m_experiment.directory() / "seen";
  auto const outcome =
      command("", "train " + input() + " run.steps=2 model.layers=1 run.dir=" + seen.dir.string() +
                      " --kokkos-tools-libs=" + kTool);
  ASSERT_EQ(outcome.status, 0) << outcome.output;
  seen.rows = read_metrics(seen.dir);
  expect_equal_steps(plain, seen);
  auto const program = program_from_json(
      command("", "plan " + input() + " run.steps=2 model.layers=1 --items --json").output,
      "stdout");
  auto const notes = read_notes(m_notes);
  EXPECT_EQ(notes.open, 0);
  EXPECT_FALSE(notes.kernel_alone);
  for (Item const& item : program.items)
    if (item.kind == ItemKind::op && item.lane == Lane::compute) {
      EXPECT_TRUE(notes.regions.contains(what(program, item))) << what(program, item);
    }
  for (auto const* kernel : {"spillway::matmul", "spillway::embed", "spillway::adamw"})
    EXPECT_TRUE(notes.kernels.contains(kernel)) << kernel;
  auto const begun = notes.end.substr(0, notes.end.find(' '));
  EXPECT_EQ(notes.end, begun + " kernels began, " + begun + " ended");
}

TEST_F(KokkosTools, are_named_by_the_environment_too) {
  auto const outcome = command("KOKKOS_TOOLS_LIBS=" + kTool,
                               "train " + input() + " run.steps=1 model.layers=1 run.dir=" +
                                   (m_experiment.directory() / "run").string());
  ASSERT_EQ(outcome.status, 0) << outcome.output;
  EXPECT_TRUE(read_notes(m_notes).kernels.contains("spillway::matmul"));
}

TEST_F(KokkosTools, that_cannot_be_opened_are_refused) {
  auto const arguments =
      "train " + input() + " run.dir=" + (m_experiment.directory() / "run").string();
  for (auto const& [before, option] :
       {std::pair("KOKKOS_TOOLS_LIBS=/no/tool.so", ""), {"", " --kokkos-tools-libs=/no/tool.so"}}) {
    auto const outcome = command(before, arguments + option);
    EXPECT_EQ(outcome.status, 2) << outcome.output;
    EXPECT_TRUE(says(outcome, "spillway: KOKKOS_TOOLS_LIBS, --kokkos-tools-libs: /no/tool.so: "))
        << outcome.output;
  }
}

TEST_F(KokkosTools, options_of_kokkos_that_keys_decide_are_refused) {
  auto const refusal = [&](std::string const& option) {
    auto const outcome = command("", "train " + input() + " " + option);
    EXPECT_EQ(outcome.status, 2) << outcome.output;
    return outcome.output;
  };
  EXPECT_EQ(refusal("--kokkos-num-threads=2"),
            "spillway: --kokkos-num-threads: give run.threads instead, which decides it\n");
  EXPECT_EQ(refusal("--kokkos-device-id=0"),
            "spillway: --kokkos-device-id: give run.device instead, which decides it\n");
  EXPECT_EQ(refusal("--kokkos-tools-libs"),
            "spillway: --kokkos-tools-libs: give it a value: =VALUE\n");
  EXPECT_EQ(refusal("--kokkos-tune-internals=maybe"),
            "spillway: --kokkos-tune-internals: 'maybe' is neither true nor false\n");
  EXPECT_EQ(
      refusal("--kokkos-tool-libs=x"),
      "spillway: --kokkos-tool-libs: is not taken; --kokkos-tools-libs=FILE, "
      "--kokkos-tools-args=TEXT, --kokkos-print-configuration and --kokkos-tune-internals are\n");
}

}  // namespace
}  // namespace spillway::test::kokkos_tools_test
