// Checkpoints of weights from elsewhere, what they carry, and directories that get their names
// last.
#include "io/h5/checkpoint_sink.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "base/error.hpp"
#include "io/h5/carried_files.hpp"
#include "io/h5/checkpoint_reader.hpp"
#include "tests/support/names_in.hpp"

namespace spillway {
namespace {

namespace fs = std::filesystem;

class CheckpointSinkTest : public testing::Test {
 protected:
  CheckpointSinkTest() {
    fs::remove_all(m_dir);
    fs::create_directories(m_dir);
  }
  ~CheckpointSinkTest() override { fs::remove_all(m_dir); }

  static void write(TensorSink& sink) {
    std::vector<float> const a = {1, 2, 3, 4, 5, 6}, b = {7};
    sink.write(1, 0, std::as_bytes(std::span(b)));
    sink.write(0, 0, std::as_bytes(std::span(a).first(2)));
    sink.write(0, 2, std::as_bytes(std::span(a).subspan(2)));
  }
  CheckpointSink begin() const {
    return {m_checkpoint,
            TensorList({{"a", ElementType::f32, {2, 3}}, {"b", ElementType::f32, {1}}}),
            {{"step", "0"}}};
  }
  void make() const {
    auto sink = begin();
    write(sink);
    write_carried(sink.unfinished(), kTypesFile, "types");
    write_carried(sink.unfinished(), "config.json", "configuration");
    sink.finish();
  }
  static std::string get(fs::path const& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  template <class F>
  static void expect_error(F const& action, Status status, std::string const& words) {
    try {
      action();
      FAIL() << "no error: " << words;
    } catch (Error const& error) {
      EXPECT_EQ(error.status(), status) << error.what();
      EXPECT_NE(std::string(error.what()).find(words), std::string::npos) << error.what();
    }
  }

  fs::path const m_dir =
      fs::path(testing::TempDir()) / testing::UnitTest::GetInstance()->current_test_info()->name();
  fs::path const m_checkpoint = m_dir / "checkpoint", m_folder = m_checkpoint / kCarriedFolder;
};

TEST_F(CheckpointSinkTest, what_was_written_is_a_checkpoint) {
  make();
  EXPECT_EQ(test::names_in(m_dir), std::vector<std::string>{"checkpoint"});
  CheckpointReader reader(m_checkpoint);
  EXPECT_EQ(reader.run_strings().at("step"), "0");
  std::vector<float> values(6);
  reader.read("model", "a", 0, values);
  EXPECT_EQ(values, (std::vector<float>{1, 2, 3, 4, 5, 6}));
  ASSERT_EQ(carried_files(m_checkpoint).size(), 2u);
  EXPECT_EQ(get(m_folder / "config.json"), "configuration");
}

TEST_F(CheckpointSinkTest, who_goes_without_finishing_leaves_nothing) {
  {
    auto sink = begin();
    write(sink);
    EXPECT_FALSE(fs::exists(m_checkpoint));
    EXPECT_FALSE(fs::is_empty(m_dir));
  }
  EXPECT_TRUE(fs::is_empty(m_dir));
}

TEST_F(CheckpointSinkTest, a_place_that_is_taken_is_refused_and_what_was_killed_is_not) {
  fs::create_directories(m_dir / "checkpoint.spillway-partial" / "old");
  fs::create_directories(m_checkpoint);  // empty, with a slash behind its name
  { NewDirectory directory(m_checkpoint / ""); }
  make();
  EXPECT_FALSE(fs::exists(m_dir / "checkpoint.spillway-partial"));
  expect_error([&] { make(); }, Status::bad_input, "checkpoint: is there already");
  std::ofstream(m_dir / "file") << "text";
  expect_error([&] { NewDirectory directory(m_dir / "file"); }, Status::bad_input,
               "is there already");
  expect_error([&] { NewDirectory directory(m_dir / "file/below"); }, Status::storage,
               "file/below");
}

TEST_F(CheckpointSinkTest, one_process_at_a_time_writes_a_directory) {
  auto sink = begin();
  write(sink);
  expect_error([&] { begin(); }, Status::bad_input, "another process is writing it");
  sink.finish();
  EXPECT_EQ(CheckpointReader(m_checkpoint).run_strings().at("step"), "0");
}

TEST_F(CheckpointSinkTest, what_does_not_fit_is_not_begun) {
  TensorList const too_much({{"a", ElementType::f32, {std::int64_t{1} << 58}}});
  expect_error([&] { CheckpointSink(m_checkpoint, too_much, {}); }, Status::bad_input,
               "the checkpoint needs 1152921504606846976 bytes");
  EXPECT_TRUE(fs::is_empty(m_dir));
}

TEST_F(CheckpointSinkTest, what_is_carried_is_sealed) {
  auto const expect_damaged = [&](std::string const& name) {
    expect_error([&] { CheckpointReader reader(m_checkpoint); }, Status::damaged,
                 (m_folder / name).string());
    fs::remove_all(m_checkpoint);
    make();
  };
  make();
  std::ofstream(m_folder / "config.json") << "configuratiom";
  expect_damaged("config.json");
  fs::remove(m_folder / "config.json");
  expect_damaged("config.json");
  std::ofstream(m_folder / "vocab.txt") << "not sealed";
  expect_damaged("vocab.txt");
  fs::remove_all(m_folder);
  expect_damaged("config.json");
  CheckpointReader const whole(m_checkpoint);
}

TEST_F(CheckpointSinkTest, links_folders_large_files_and_too_many_are_not_carried) {
  make();
  auto const refuse = [&](std::string const& words) {
    expect_error([&] { carry_files(m_checkpoint, m_dir); }, Status::damaged, words);
    EXPECT_FALSE(fs::exists(m_dir / kCarriedFolder));
  };
  fs::create_symlink("config.json", m_folder / "link.json");
  refuse("link.json");
  fs::remove(m_folder / "link.json");
  fs::create_directory(m_folder / "folder");
  refuse("folder");
  fs::remove(m_folder / "folder");
  std::ofstream(m_folder / "large") << "";
  fs::resize_file(m_folder / "large", kMostCarriedBytes + 1);
  refuse("large");
  fs::remove(m_folder / "large");
  for (int i = 0; i < 31; ++i) std::ofstream(m_folder / std::to_string(i)) << i;
  refuse("more than the 32 files");
  fs::remove(m_folder / "0");
  carry_files(m_checkpoint, m_dir);
  EXPECT_EQ(carried_files(m_dir).size(), 32u);
}

TEST_F(CheckpointSinkTest, files_are_carried_in_the_place_of_others) {
  make();
  fs::create_directories(m_dir / "run");
  write_carried(m_dir / "run", kTypesFile, "others");
  write_carried(m_dir / "run", "merges.txt", "others");
  carry_files(m_checkpoint, m_dir / "run");
  EXPECT_EQ(test::names_in(m_dir / "run" / kCarriedFolder),
            (std::vector<std::string>{"config.json", "tensor-types.json"}));
  EXPECT_EQ(get(m_dir / "run" / kCarriedFolder / kTypesFile), "types");
  carry_files("", m_dir / "run");
  EXPECT_TRUE(fs::is_empty(m_dir / "run"));
}

TEST_F(CheckpointSinkTest, a_folder_of_that_name_that_is_not_a_runs_is_left_alone) {
  make();
  fs::create_directories(m_dir / "run" / kCarriedFolder / "hub");
  EXPECT_TRUE(carried_files(m_dir / "run").empty());
  carry_files("", m_dir / "run");
  expect_error([&] { carry_files(m_checkpoint, m_dir / "run"); }, Status::bad_input,
               "is no folder of a run");
  EXPECT_TRUE(fs::exists(m_dir / "run" / kCarriedFolder / "hub"));
}

}  // namespace
}  // namespace spillway
