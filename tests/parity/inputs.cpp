// The files under input/: each plans for every machine that comes with the program, starts, and the
// quickstart's learns whatever family it is given.
#include <gtest/gtest.h>

#include <filesystem>
#include <map>

#include "tests/support/run_program.hpp"

namespace spillway::test::inputs_test {
namespace {

namespace fs = std::filesystem;

fs::path const kInputs = fs::path(SPILLWAY_SOURCE_DIR) / "input";

std::vector<std::string> stems_in(fs::path const& folder) {
  std::vector<std::string> stems;
  for (auto const& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() == ".yaml") stems.push_back(entry.path().stem().string());
  }
  std::ranges::sort(stems);
  return stems;
}

std::string file(std::string const& input) {
  return (kInputs / (input + ".yaml")).string();
}

class Inputs : public testing::TestWithParam<std::string> {};

// Seven billion parameters have no room in main memory and a drive of such a size.
bool is_too_large(std::string const& input, std::string const& machine) {
  return input == "mistral-7b" && machine == "cpu";
}

TEST_P(Inputs, plan_for_every_machine) {
  for (auto const& machine : stems_in(kInputs / "machines")) {
    SCOPED_TRACE(machine);
    // Some leave the vocabulary to token files, which are not here: then it is the published one.
    std::map<std::string, std::string> const vocab = {{"quickstart", " model.vocab=256"}};
    auto const own = vocab.contains(GetParam()) ? vocab.at(GetParam()) : "";
    auto const outcome = run_command(spillway_command(0) + " plan " + file(GetParam()) + own +
                                     " --machine " + file("machines/" + machine));
    bool const too_large = is_too_large(GetParam(), machine);
    EXPECT_EQ(outcome.status, too_large ? 3 : 0) << outcome.output;
    EXPECT_NE(outcome.output.find(too_large ? "needs at least memory.device=" : "Fits with "),
              std::string::npos)
        << outcome.output;
  }
}

// What is too large for every machine that tests run on: their widths, or one layer of them.
std::map<std::string, std::string> const kSmaller = {
    {"gpt", "model.layers=1"},
    {"llama-1b", "model.layers=1 model.vocab=1000 model.hidden=1024 model.ffn=4096"},
    {"qwen3-0.6b", "model.layers=1 model.vocab=1000"},
    {"mistral-7b", "model.layers=1 model.vocab=1000 model.hidden=1024 model.ffn=3584"},
};

// With a batch of one short sequence; bert-base, t5-small and the quickstart as large as they are.
TEST_P(Inputs, start) {
  auto const dir = scratch_directory("inputs_" + GetParam());
  fs::create_directory(dir / "runs");  // where the quickstart spills to
  write_token_file(dir / "tokens.h5", 4000, 400);
  auto const smaller = kSmaller.contains(GetParam()) ? kSmaller.at(GetParam()) : "";
  auto const outcome = run_command(
      "cd " + dir.string() + " && " + spillway_command(0) + " train " + file(GetParam()) +
      " data.train=tokens.h5 data.valid=none data.sequence=64 batch.sequences=1 batch.micro=1 "
      "memory.device=3GiB memory.nvme.size=1GiB memory.nvme.path=runs run.steps=2 run.dir=run "
      "run.threads=1 run.log.every=1 run.checkpoint.every=0 debug.machine=" +
      machine_file() + " " + smaller);
  ASSERT_EQ(outcome.status, 0) << outcome.output;
  EXPECT_EQ(read_metrics(dir / "run").size(), 2u);
  fs::remove_all(dir);  // the last checkpoint is as large as the model
}

INSTANTIATE_TEST_SUITE_P(, Inputs, testing::ValuesIn(stems_in(kInputs)), [](auto const& info) {
  auto name = info.param;
  std::ranges::replace_if(
      name, [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return name;
});

class Quickstart : public testing::TestWithParam<char const*> {};

// Its layers, plan and schedule, a quarter as wide and with less room.
TEST_P(Quickstart, learns) {
  auto const dir = scratch_directory(std::string("quickstart_") + GetParam());
  write_token_file(dir / "tokens.h5", 12'000);
  auto const outcome = run_command(
      "cd " + dir.string() + " && " + spillway_command(2) + " train " + file("quickstart") +
      " model.family=" + GetParam() +
      " model.hidden=64 data.train=tokens.h5 data.valid=none data.sequence=64 batch.sequences=8 "
      "batch.micro=2 memory.device=8MiB memory.nvme.path=. run.steps=40 run.dir=run run.threads=1 "
      "optim.warmup=4 debug.machine=" +
      machine_file());
  ASSERT_EQ(outcome.status, 0) << outcome.output;
  auto const rows = read_metrics(dir / "run");
  EXPECT_LT(rows.back().at("loss").get<double>(), 0.8 * rows.front().at("loss").get<double>());
  std::int64_t spilled_bytes = 0;  // of which row is a matter of time
  for (auto const& row : rows) spilled_bytes += row.at("spilled_bytes").get<std::int64_t>();
  EXPECT_GT(spilled_bytes, 0);
}

INSTANTIATE_TEST_SUITE_P(Of, Quickstart, testing::Values("gpt", "llama", "bert", "t5"),
                         [](auto const& info) { return std::string(info.param); });

}  // namespace
}  // namespace spillway::test::inputs_test
