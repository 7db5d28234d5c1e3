// What a killed job left of a checkpoint does not count as used space.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/statvfs.h>

#include <filesystem>
#include <fstream>

#include "base/error.hpp"
#include "comm/comm.hpp"
#include "device/host/host_device.hpp"
#include "plan/compile/compile.hpp"
#include "plan/data/machine.hpp"
#include "plan/data/program.hpp"
#include "plan/search/solve.hpp"
#include "run/prepare.hpp"
#include "runtime/tiers.hpp"
#include "state/checkpoints.hpp"
#include "tests/support/plan_words.hpp"
#include "tests/support/tiny_gpt.hpp"
#include "train/save_time.hpp"

namespace {

std::filesystem::path run_dir() {
  return std::filesystem::path(testing::TempDir()) / "train_checkpoint_space";
}

std::filesystem::path half() {
  return run_dir() / "step-3.partial";
}

}  // namespace

// Takes the C library's place in this program: a disk that is full as long as `half()` is there.
extern "C" int statvfs(char const* /*path*/, struct statvfs* info) noexcept {
  *info = {};
  info->f_frsize = 4096;
  info->f_bavail = std::filesystem::exists(half()) ? 0 : 1 << 30;
  return 0;
}

namespace spillway::train_checkpoint_space_test {
namespace {

class CheckpointSpace : public testing::Test {
 protected:
  CheckpointSpace()
      : m_train(training_graph(test::tiny_config(), test::kTinyVocab,
                               test::tiny_arithmetic(test::tiny_config()))),
        m_program(
            compile(m_train, nullptr,
                    make_plan(m_train, test::PlanWords{.activations = {"keep"}}, BlockPolicy::keep),
                    1, 1)
                .train),
        m_tiers(host_device(), m_program.peak_bytes, nullptr),
        m_model(m_program, m_tiers, 0) {
    std::filesystem::remove_all(run_dir());
    std::filesystem::create_directories(half());
    std::ofstream(half() / "shard-0.h5") << "as far as it came";
  }
  ~CheckpointSpace() override { std::filesystem::remove_all(run_dir()); }

  Graph const m_train;
  Program const m_program;
  Tiers m_tiers;
  ModelState m_model;
};

TEST_F(CheckpointSpace, is_asked_for_at_the_start_after_the_rest_of_a_killed_one_is_gone) {
  RunConfig run;
  run.dir = run_dir().string();
  EXPECT_NO_THROW(require_checkpoint_space(run, m_model, 0));
  EXPECT_FALSE(std::filesystem::exists(half()));
}

TEST_F(CheckpointSpace, counts_what_each_carries_beside_its_tensors) {
  RunConfig run;
  run.dir = run_dir().string();
  try {
    require_checkpoint_space(run, m_model, 0, std::int64_t{1} << 43);
    ADD_FAILURE();
  } catch (Error const& error) {
    EXPECT_EQ(error.status(), Status::bad_input);  // nothing has been started
    EXPECT_NE(std::string(error.what()).find("checkpoints need "), std::string::npos);
  }
}

// As many as will be there at once beyond those that are: `keep` and the one being written, if the
// run has that many left.
TEST_F(CheckpointSpace, is_for_as_many_as_there_will_be_at_once) {
  constexpr auto carried = std::int64_t{1} << 43;
  auto const each = checkpoint_bytes(m_model) + carried;
  struct Case {
    std::int64_t steps, every, keep, step, there, more;
    bool minutes = false;
  };
  for (auto const& [steps, every, keep, step, there, more, minutes] :
       std::initializer_list<Case>{{100, 10, 3, 0, 0, 4},
                                   {100, 10, 20, 0, 0, 11},
                                   {100, 10, 20, 71, 0, 3},
                                   {100, 0, 3, 0, 0, 1},
                                   {100, 10, 3, 40, 2, 2},
                                   {100, 10, 3, 40, 3, 1},
                                   {100, 10, 3, 40, 7, 1},
                                   {100, 50, 9, 1, 1, 2},
                                   {5, 10, 9, 5, 0, 1},
                                   {5, 10, 9, 9, 0, 1},
                                   {7, 100, 9, 2, 0, 5, true}}) {
    std::filesystem::remove_all(run_dir());
    for (std::int64_t i = 0; i < there; ++i)
      std::filesystem::create_directories(run_dir() / fmt::format("step-{}", step - i));
    std::filesystem::create_directories(run_dir() / fmt::format("step-{}", step + 1));  // is redone
    RunConfig run;
    run.dir = run_dir().string();
    run.steps = steps;
    run.checkpoint.every = every;
    run.checkpoint.keep = keep;
    if (minutes) run.checkpoint.minutes = 1;
    try {
      require_checkpoint_space(run, m_model, step, carried);
      ADD_FAILURE() << steps << " " << every << " " << keep;
    } catch (Error const& error) {
      EXPECT_EQ(error.what(),
                fmt::format("{}: checkpoints need {} bytes more, 4398046511104 are free; free some "
                            "space, choose another run.dir or keep fewer (run.checkpoint.keep)",
                            run.dir, more * each))
          << steps << " " << every << " " << keep << " " << step << " " << there;
    }
  }
}

// Which a plan tells before there is a model.
TEST_F(CheckpointSpace, is_known_from_the_graph) {
  auto const estimate = estimate_save(m_train, false, Machine{.nvme_write_gbps = 2}, 1);
  EXPECT_EQ(estimate.bytes, checkpoint_bytes(m_model));
  EXPECT_EQ(estimate.seconds(), static_cast<double>(estimate.bytes) / 2e9);
}

TEST_F(CheckpointSpace, is_asked_for_at_a_save_after_the_rest_of_a_killed_one_is_gone) {
  auto const comm = make_single_rank_comm();
  RunState state;
  state.step = 4;
  SaveSettings settings{1};
  EXPECT_NO_THROW(save_checkpoint(run_dir(), m_model, state, settings, *comm));
  EXPECT_FALSE(std::filesystem::exists(half()));
  EXPECT_TRUE(std::filesystem::exists(run_dir() / "step-4"));
}

}  // namespace
}  // namespace spillway::train_checkpoint_space_test
