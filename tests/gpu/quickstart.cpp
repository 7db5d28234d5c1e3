// The quickstart's input learns on a GPU as it does on the cores: on a text of C headers, as that
// of jobs/quickstart.sh.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tests/gpu/gpu.hpp"
#include "tests/support/run_program.hpp"

namespace spillway::test::quickstart_test {
namespace {

namespace fs = std::filesystem;

constexpr int kSteps = 30;

// Both round to bf16, at different places, and training makes the difference grow: on an H200 to
// 0.025 in these steps.
constexpr double kTolerance = 0.05;

// The interpreter of PTX would take hours for the model as it is.
std::string smaller() {
  if (!on_ptx()) return "";
  return "model.hidden=64 data.sequence=64 batch.sequences=8 batch.micro=4 ";
}

class Quickstart : public testing::Test {
 protected:
  Quickstart() : m_dir(scratch_directory("quickstart_on_gpu")) {
    auto const made = run_command(
        "cd " + m_dir.string() + " && " + spillway_command(0) +
        " tokenize --tokenizer byte -o tokens.h5 $(ls /usr/include/linux/*.h | head -n 300)");
    EXPECT_EQ(made.status, 0) << made.output;
  }

  std::vector<double> losses(std::string const& run, Keys const& where) const {
    auto const outcome = run_command(fmt::format(
        "cd {} && {} train {} {} data.train=tokens.h5 data.valid=none memory.nvme.path=. "
        "optim.warmup=5 run.steps={} run.dir={} run.log.every=1 run.checkpoint.every=0 {}",
        m_dir.string(), spillway_command(0), SPILLWAY_SOURCE_DIR "/input/quickstart.yaml",
        smaller(), kSteps, run, fmt::join(where, " ")));
    EXPECT_EQ(outcome.status, 0) << outcome.output;
    std::vector<double> result;
    for (auto const& row : read_metrics(m_dir / run)) result.push_back(row.at("loss"));
    return result;
  }

  fs::path const m_dir;
};

TEST_F(Quickstart, learns_in_thirty_steps_what_the_cores_learn) {
  auto const on_device = losses("gpu", on_gpu(1));
  auto const there = losses("cores", on_cores());
  ASSERT_EQ(on_device.size(), kSteps);
  ASSERT_EQ(there.size(), kSteps);
  EXPECT_LT(on_device.back(), 0.8 * on_device.front());
  for (std::size_t i = 0; i < on_device.size(); ++i)
    EXPECT_NEAR(on_device[i], there[i], kTolerance) << "step " << i;
}

}  // namespace
}  // namespace spillway::test::quickstart_test
