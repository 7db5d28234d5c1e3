// A run directory whose checkpoints are not where `latest` says.
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <fstream>
#include <limits>
#include <optional>

#include "base/error.hpp"
#include "io/file/seal.hpp"
#include "io/h5/checkpoint_dir.hpp"
#include "io/h5/checkpoint_file.hpp"
#include "io/h5/checkpoint_names.hpp"
#include "io/h5/checkpoint_reader.hpp"
#include "io/h5/earlier_checkpoints.hpp"
#include "io/h5/shard_writer.hpp"
#include "tests/support/names_in.hpp"
#include "tests/support/refused_with.hpp"

namespace spillway::h5_earlier_test {
namespace {

namespace fs = std::filesystem;
using Names = std::vector<std::string>;

class EarlierCheckpoints : public testing::Test {
 protected:
  EarlierCheckpoints() {
    fs::remove_all(m_run);
    fs::create_directories(m_run);
  }
  ~EarlierCheckpoints() override { fs::remove_all(m_run); }

  void save(std::int64_t step) const {
    auto const layout = spread_evenly({{"model", "w", {1}}}, 1);
    auto const directory = begin_checkpoint(m_run, step);
    ShardWriter writer(directory, 0, layout);
    auto const value = static_cast<float>(step);
    writer.write("model", "w", 0, std::as_bytes(std::span(&value, 1)));
    writer.close();
    write_manifest(directory, layout, {{"step", std::to_string(step)}});
    EXPECT_EQ(commit_checkpoint(m_run, step, 1), std::nullopt);
  }

  void cut(std::string const& name) const {
    fs::resize_file(m_run / name, fs::file_size(m_run / name) - 1);
  }

  fs::path const m_run = fs::path(testing::TempDir()) / "earlier_checkpoints";
};

TEST_F(EarlierCheckpoints, without_any_there_is_nothing_to_mend_or_to_set_aside) {
  EXPECT_EQ(mend_latest(m_run), Names());
  EXPECT_EQ(mend_latest(m_run / "none"), Names());
  EXPECT_EQ(set_aside_checkpoints(m_run), std::nullopt);
  EXPECT_EQ(test::names_in(m_run), Names());
}

TEST_F(EarlierCheckpoints, a_missing_latest_is_made_again_and_said) {
  save(5);
  fs::remove(m_run / "latest");
  save(20);
  for (bool const dangling : {false, true}) {
    fs::remove(m_run / "latest");
    if (dangling) fs::create_symlink("nowhere", m_run / "latest");
    EXPECT_EQ(mend_latest(m_run),
              (Names{(m_run / "latest").string() +
                     ": was missing; step-20 is the newest checkpoint that is complete"}));
    EXPECT_EQ(find_latest(m_run), m_run / "step-20");
  }
  EXPECT_EQ(mend_latest(m_run), Names());  // it is there now
}

TEST_F(EarlierCheckpoints, the_newest_that_is_complete_is_taken_and_why_not_the_newer_ones) {
  save(5);
  fs::rename(m_run / "step-5", m_run / "kept");
  save(20);
  fs::rename(m_run / "kept", m_run / "step-5");
  fs::remove(m_run / "latest");
  cut("step-20/shard-0.h5");
  auto const said = mend_latest(m_run);
  ASSERT_EQ(said.size(), 2u);
  EXPECT_NE(said[0].find("step-20/shard-0.h5: has "), std::string::npos);
  EXPECT_EQ(find_latest(m_run), m_run / "step-5");

  fs::remove(m_run / "latest");
  cut("step-5/seal");
  try {
    mend_latest(m_run);
    FAIL();
  } catch (Error const& error) {
    EXPECT_EQ(error.status(), Status::damaged);
  }
  EXPECT_EQ(test::names_in(m_run), (Names{"step-20", "step-5"}));
}

TEST_F(EarlierCheckpoints, later_ones_than_latest_names_move_out_of_the_way) {
  for (std::int64_t const step : {50, 90, 100}) {
    save(step);
    fs::rename(m_run / ("step-" + std::to_string(step)), m_run / std::to_string(step));
  }
  for (auto const* step : {"50", "90", "100"})
    fs::rename(m_run / step, m_run / (std::string("step-") + step));
  std::ofstream(m_run / "latest") << "step-50\n";
  auto const said = mend_latest(m_run);
  ASSERT_EQ(said.size(), 1u);
  EXPECT_NE(said[0].find("later checkpoints (step 90, 100) are in"), std::string::npos);
  EXPECT_EQ(test::names_in(m_run), (Names{"earlier-1", "latest", "step-50"}));
  EXPECT_EQ(test::names_in(m_run / "earlier-1"), (Names{"step-100", "step-90"}));
  EXPECT_EQ(mend_latest(m_run), Names());
}

// A kill between the two renames of a save.
TEST_F(EarlierCheckpoints, a_save_that_was_interrupted_at_its_very_end_is_finished) {
  save(5);
  fs::copy_file(m_run / "latest", m_run / "old");
  save(20);
  fs::rename(m_run / "latest", m_run / "latest.partial");
  fs::rename(m_run / "old", m_run / "latest");
  EXPECT_EQ(mend_latest(m_run).size(), 1u);
  EXPECT_EQ(test::names_in(m_run), (Names{"latest", "step-20"}));
  EXPECT_EQ(find_latest(m_run), m_run / "step-20");

  fs::rename(m_run / "latest", m_run / "latest.partial");  // it was the first one
  EXPECT_EQ(mend_latest(m_run).size(), 1u);
  EXPECT_EQ(find_latest(m_run), m_run / "step-20");
}

TEST_F(EarlierCheckpoints, what_somebody_wrote_into_latest_since_an_interrupted_save_counts) {
  save(5);
  fs::rename(m_run / "step-5", m_run / "kept");
  save(20);
  fs::rename(m_run / "kept", m_run / "step-5");
  fs::rename(m_run / "latest", m_run / "latest.partial");
  std::ofstream(m_run / "latest") << "step-5\n";
  fs::last_write_time(m_run / "latest",
                      fs::last_write_time(m_run / "latest.partial") + std::chrono::seconds(1));
  EXPECT_EQ(mend_latest(m_run).size(), 1u);
  EXPECT_EQ(test::names_in(m_run), (Names{"earlier-1", "latest", "step-5"}));
}

TEST_F(EarlierCheckpoints, a_next_latest_that_names_nothing_newer_and_whole_is_removed) {
  save(5);
  for (auto const* text : {"", "step-", "step-20\n", "step-5\n", "step-3\n"}) {
    std::ofstream(m_run / "latest.partial") << text;
    EXPECT_EQ(mend_latest(m_run), Names()) << text;
    EXPECT_EQ(test::names_in(m_run), (Names{"latest", "step-5"})) << text;
    EXPECT_EQ(find_latest(m_run), m_run / "step-5");
  }
}

TEST_F(EarlierCheckpoints, a_move_that_was_interrupted_goes_on_into_the_same_place) {
  save(90);
  fs::rename(m_run / "step-90", m_run / "kept");
  save(50);
  fs::create_directory(m_run / "earlier.partial");
  fs::rename(m_run / "kept", m_run / "earlier.partial/step-90");
  EXPECT_EQ(mend_latest(m_run).size(), 1u);  // said, now that it has come to its end
  EXPECT_EQ(test::names_in(m_run), (Names{"earlier-1", "latest", "step-50"}));
  EXPECT_EQ(test::names_in(m_run / "earlier-1"), Names{"step-90"});
}

TEST_F(EarlierCheckpoints, a_step_that_was_moved_before_does_not_stand_in_the_way) {
  save(90);
  fs::create_directory(m_run / "earlier.partial");
  fs::copy(m_run / "step-90", m_run / "earlier.partial/step-90");
  fs::rename(m_run / "step-90", m_run / "kept");
  save(50);
  fs::rename(m_run / "kept", m_run / "step-90");
  EXPECT_EQ(mend_latest(m_run).size(), 1u);
  EXPECT_EQ(test::names_in(m_run), (Names{"earlier-1", "earlier-2", "latest", "step-50"}));
}

TEST_F(EarlierCheckpoints, one_of_a_later_version_is_not_passed_over) {
  save(5);
  fs::rename(m_run / "step-5", m_run / "kept");
  save(20);
  fs::rename(m_run / "kept", m_run / "step-5");
  fs::remove(m_run / "latest");
  std::ofstream(m_run / "step-20/seal") << sealed("{\"version\":99}\n");
  EXPECT_THROW(mend_latest(m_run), Error);
  EXPECT_FALSE(fs::exists(m_run / "latest"));
  fs::remove(m_run / "step-20/seal");
  fs::remove(m_run / "step-20/checkpoint.h5");  // never finished
  EXPECT_EQ(mend_latest(m_run).size(), 2u);
  EXPECT_EQ(find_latest(m_run), m_run / "step-5");
}

TEST_F(EarlierCheckpoints, a_strangers_file_in_the_place_of_the_move_is_moved_aside) {
  save(7);
  std::ofstream(m_run / "earlier.partial") << "mine";
  EXPECT_EQ(mend_latest(m_run), Names());
  EXPECT_EQ(set_aside_checkpoints(m_run), m_run / "earlier-2");
  EXPECT_TRUE(fs::is_regular_file(m_run / "earlier-1"));
  EXPECT_EQ(find_latest(m_run / "earlier-2"), m_run / "earlier-2" / "step-7");
}

TEST_F(EarlierCheckpoints, the_newest_complete_one_before_is_named) {
  for (std::int64_t const step : {5, 20, 30, 40}) {
    save(step);
    fs::rename(m_run / ("step-" + std::to_string(step)), m_run / std::to_string(step));
  }
  for (auto const* step : {"5", "20", "30", "40"})
    fs::rename(m_run / step, m_run / (std::string("step-") + step));
  auto const named = [&](char const* name) {
    auto const at = (m_run / name).string(), latest = (m_run / "latest").string();
    return " (" + at + " is complete: give that one, or write " + name + " into " + latest +
           " to go on from it)";
  };
  auto const line = [](auto const& action) { return test::refused_with(action, Status::damaged); };
  EXPECT_EQ(text_about_older(m_run, 40), named("step-30"));
  cut("step-40/shard-0.h5");
  cut("step-30/seal");
  for (auto const& path : {m_run, m_run / "step-40", m_run / "step-40/"}) {
    auto const said = line([&] { open_checkpoint(path); });
    EXPECT_NE(said.find("step-40/shard-0.h5: has "), std::string::npos) << said;
    EXPECT_TRUE(said.ends_with(named("step-20"))) << said;
  }
  EXPECT_EQ(open_checkpoint(m_run / "step-20").directory(), m_run / "step-20");
  std::ofstream(m_run / "latest") << "junk\n";
  EXPECT_TRUE(line([&] { find_latest(m_run); }).ends_with("'junk'" + named("step-20")));
  std::ofstream(m_run / "latest") << "step-20\n";
  EXPECT_EQ(open_checkpoint(m_run).directory(), m_run / "step-20");
  cut("step-5/seal");
  cut("step-20/seal");
  EXPECT_TRUE(line([&] {
                find_latest(m_run);
              }).ends_with("no checkpoint before it is complete in " + m_run.string() + ")"));
}

// A file in the place of the run directory stands for every directory that cannot be listed.
TEST_F(EarlierCheckpoints, that_cannot_be_looked_at_do_not_hide_the_damage) {
  auto const run = m_run / "run";
  std::ofstream(run) << "a file";
  auto const words =
      " (and checkpoints before it cannot be looked at: " + run.string() + ": Not a directory)";
  EXPECT_EQ(text_about_older(run, 5), words);
  auto const read = [] { throw Error(Status::damaged, "seal: damaged"); };
  EXPECT_EQ(test::refused_with([&] { naming_older(run / "step-5", read); }, Status::damaged),
            "seal: damaged" + words);
}

TEST_F(EarlierCheckpoints, set_aside_all_go_together_and_nothing_comes_back) {
  save(7);
  fs::copy(m_run / "step-7", m_run / "step-7.replaced");
  EXPECT_EQ(set_aside_checkpoints(m_run), m_run / "earlier-1");
  EXPECT_EQ(test::names_in(m_run), (Names{"earlier-1"}));
  save(7);
  fs::create_directory(m_run / "step-9.partial");  // the one that is to take their place
  EXPECT_EQ(set_aside_checkpoints(m_run), m_run / "earlier-2");
  EXPECT_EQ(test::names_in(m_run), (Names{"earlier-1", "earlier-2", "step-9.partial"}));
  for (auto const* earlier : {"earlier-1", "earlier-2"})
    EXPECT_EQ(find_latest(m_run / earlier), m_run / earlier / "step-7");
}

TEST(CheckpointNames, are_of_whole_steps_and_their_own_suffix) {
  using Step = std::optional<std::int64_t>;
  EXPECT_EQ(step_in("step-20"), Step(20));
  EXPECT_EQ(step_in("step-0"), Step(0));
  EXPECT_EQ(step_in("step-9223372036854775807"), Step(std::numeric_limits<std::int64_t>::max()));
  EXPECT_EQ(step_in("step-20.partial", kUnfinished), Step(20));
  EXPECT_EQ(step_of("runs/step-30/"), Step(30));
  EXPECT_EQ(step_path("run", 7, kReplaced), "run/step-7.replaced");
  for (auto const* name : {"step-20.partial", "step-", "step--1", "step-1x", "Step-1", "xstep-1",
                           "step-9223372036854775808"})
    EXPECT_EQ(step_in(name), Step()) << name;
  for (auto const* name : {"step-20", "step-.partial", "step-20.replaced"})
    EXPECT_EQ(step_in(name, kUnfinished), Step()) << name;
}

TEST_F(EarlierCheckpoints, of_latest_a_line_of_a_small_file_counts) {
  EXPECT_EQ(read_latest(m_run), std::nullopt);
  auto const put = [&](std::string const& text) { std::ofstream(m_run / "latest") << text; };
  put("step-5");
  EXPECT_EQ(read_latest(m_run), "step-5");
  put("step-5\n" + std::string(4096 - 7, 'x'));
  EXPECT_EQ(read_latest(m_run), "step-5");
  put("step-5\n" + std::string(4096 - 6, 'x'));
  EXPECT_EQ(test::refused_with([&] { read_latest(m_run); }, Status::damaged),
            (m_run / "latest").string() + ": has 4097 bytes, more than the 4096 that make sense");
}

}  // namespace
}  // namespace spillway::h5_earlier_test
