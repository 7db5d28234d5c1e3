// What a killed job left of a checkpoint does not count as used space.
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
#include "support/plan_words.hpp"
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

namespace spillway {
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
        m_model(m_program, m_tiers) {
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

// Which a plan tells before there is a model.
TEST_F(CheckpointSpace, is_known_from_the_graph) {
  auto const estimate = estimate_save(m_train, Machine{.nvme_write_gbps = 2});
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
}  // namespace spillway
