// What other commands print beside a device is what they print on the cores, to the last digit.
#include <fmt/format.h>

#include "tests/parity/experiment.hpp"
#include "tests/support/run_program.hpp"

namespace spillway::test {
namespace {

std::string on_cores(std::string command) {
  constexpr std::string_view suffix = "_on_stand_in";
  command.erase(command.find(suffix), suffix.size());
  return command;
}

class DeviceCommands : public ::testing::Test {
 protected:
  void expect_equal_results(std::string const& arguments) const {
    auto const command = spillway_command(0);
    auto const beside = run_command(command + arguments);
    EXPECT_EQ(beside.status, 0) << beside.output;
    EXPECT_EQ(beside.output, run_command(on_cores(command) + arguments).output);
  }

  Experiment const m_experiment{"device_commands", 0, {"precision=fp32"}};
  test::Run const m_run = m_experiment.run("run", {"plan.activations=nvme"});
  std::string const m_checkpoint = (m_run.dir / "step-6").string();
};

TEST_F(DeviceCommands, generate_samples_the_same_text) {
  expect_equal_results(
      fmt::format(" generate --checkpoint {} --prompt ab --tokens 20", m_checkpoint));
}

TEST_F(DeviceCommands, eval_has_the_same_loss) {
  auto const input = (m_run.dir.parent_path() / "in.yaml").string();
  expect_equal_results(
      fmt::format(" eval {} --checkpoint {} precision=fp32 batch.micro=2", input, m_checkpoint));
}

TEST_F(DeviceCommands, a_checkpoint_of_either_goes_on_with_the_other) {
  auto const more = fmt::format(" train {} precision=fp32 run.steps=8 run.dir={} ",
                                (m_run.dir.parent_path() / "in.yaml").string(), m_run.dir.string());
  auto const outcome =
      run_command(on_cores(spillway_command(0)) + more + "debug.machine=none memory.nvme=none");
  EXPECT_EQ(outcome.status, 0) << outcome.output;
  EXPECT_EQ(read_metrics(m_run.dir).back().at("step"), 8);
}

}  // namespace
}  // namespace spillway::test
