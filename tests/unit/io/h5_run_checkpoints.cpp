// The checkpoints in a run's directory: which one is the latest, and which are kept.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "io/h5/checkpoint_dir.hpp"
#include "io/h5/checkpoint_reader.hpp"
#include "tests/support/resource_limit.hpp"
#include "tests/unit/io/h5_checkpoint_case.hpp"

namespace spillway::h5_run_checkpoints_test {
namespace {

namespace fs = std::filesystem;
using test::CheckpointTest;

TEST_F(CheckpointTest, those_up_to_a_step_are_counted_and_a_run_stands_for_its_newest) {
  EXPECT_EQ(checkpoint_at(m_dir), m_dir);
  for (std::int64_t const step : {5, 20, 30}) save(step);
  fs::create_directory(m_dir / "step-7.partial");
  fs::create_directory(m_dir / "step-8.replaced");
  for (auto const& [step, count] : {std::pair{4, 0}, {5, 1}, {29, 2}, {30, 3}, {1000, 3}})
    EXPECT_EQ(count_checkpoints(m_dir, step), count) << step;
  std::ofstream(m_dir / "latest") << "step-20";  // nobody ended the line
  EXPECT_EQ(checkpoint_at(m_dir), m_dir / "step-20");
  EXPECT_EQ(checkpoint_at(m_dir / "step-5"), m_dir / "step-5");
  EXPECT_EQ(checkpoint_at(m_dir / "none"), m_dir / "none");
}

TEST_F(CheckpointTest, a_new_run_has_none) {
  EXPECT_EQ(find_latest(m_dir), std::nullopt);
  EXPECT_EQ(find_latest(m_dir / "missing"), std::nullopt);
}

TEST_F(CheckpointTest, one_that_was_not_committed_leaves_the_previous_one_valid) {
  save(10);
  write_shards(begin_checkpoint(m_dir, 20));  // and then the job dies
  EXPECT_EQ(find_latest(m_dir), m_dir / "step-10");
  save(30);  // sweeps what was left
  EXPECT_EQ(entries(), (std::vector<std::string>{"latest", "step-10", "step-30"}));
}

TEST_F(CheckpointTest, the_newest_are_kept) {
  for (std::int64_t step : {5, 10, 20, 100}) save(step, 2);
  EXPECT_EQ(entries(), (std::vector<std::string>{"latest", "step-100", "step-20"}));
  EXPECT_EQ(find_latest(m_dir), m_dir / "step-100");
}

TEST_F(CheckpointTest, the_same_step_again_takes_the_place_of_the_first) {
  save(7);
  std::erase_if(m_layout.extents, [](ExtentSpec const& extent) { return extent.tensor == 3; });
  m_layout.tensors.pop_back();
  save(7);
  EXPECT_EQ(entries(), (std::vector<std::string>{"latest", "step-7"}));
  EXPECT_EQ(CheckpointReader(*find_latest(m_dir)).tensors().size(), 3u);
}

TEST_F(CheckpointTest, other_files_of_the_run_are_left_alone) {
  fs::create_directory(m_dir / "step-notes");
  fs::create_directory(m_dir / "step-3x");
  std::ofstream(m_dir / "metrics.jsonl") << "{}\n";
  for (std::int64_t step : {1, 2, 3}) save(step, 1);
  EXPECT_EQ(entries(), (std::vector<std::string>{"latest", "metrics.jsonl", "step-3", "step-3x",
                                                 "step-notes"}));
}

TEST_F(CheckpointTest, full_storage_is_one_line_and_the_next_attempt_succeeds) {
  save(1);
  add("big", 100'000, 1);
  auto const error = [&] {
    test::FileSizeLimit const limit(20'000);
    return error_of([&] { save(2); });
  }();
  EXPECT_EQ(error.status(), Status::storage) << error.what();
  EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos);
  EXPECT_EQ(find_latest(m_dir), m_dir / "step-1");
  save(3);
  EXPECT_EQ(find_latest(m_dir), m_dir / "step-3");
}

TEST_F(CheckpointTest, space_is_asked_for) {
  EXPECT_NO_THROW(require_space(m_dir, 1));
  auto const error = error_of([&] { require_space(m_dir, 1ll << 60); });
  EXPECT_EQ(error.status(), Status::storage);
}

}  // namespace
}  // namespace spillway::h5_run_checkpoints_test
