// Checkpoints of weights from elsewhere, what they carry, and directories that get their names
// last.
#include "io/h5/checkpoint_sink.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>
#include <span>

#include "base/checksum.hpp"
#include "base/error.hpp"
#include "io/file/seal.hpp"
#include "io/h5/carried_files.hpp"
#include "io/h5/checkpoint_reader.hpp"
#include "io/h5/checkpoint_seal.hpp"
#include "tests/support/names_in.hpp"
#include "tests/support/resource_limit.hpp"

namespace spillway::checkpoint_sink_test {
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
    sink.carry({{kTypesFile, kFileMode, "types"}, {"config.json", kFileMode, "configuration"}});
    sink.finish();
  }
  static std::vector<float> values_of(CheckpointReader& reader) {
    std::vector<float> values(6);
    reader.read("model", "a", 0, std::as_writable_bytes(std::span(values)));
    return values;
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
  reader.read("model", "a", 0, std::as_writable_bytes(std::span(values)));
  EXPECT_EQ(values, (std::vector<float>{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(reader.carried().size(), 2u);
  auto const found = read_carried(m_checkpoint, reader.carried());
  ASSERT_EQ(found.files.size(), 2u);
  EXPECT_EQ(found.files[0].text, "configuration");
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

TEST_F(CheckpointSinkTest, what_becomes_of_what_is_carried_is_no_harm_to_the_weights) {
  auto const expect_damaged = [&](std::string const& name) {
    CheckpointReader reader(m_checkpoint);
    EXPECT_EQ(values_of(reader), (std::vector<float>{1, 2, 3, 4, 5, 6}));
    auto const found = read_carried(m_checkpoint, reader.carried());
    ASSERT_EQ(found.unread.size(), 1u) << name;
    std::string const why = found.unread[0].what();
    EXPECT_TRUE(why.starts_with((m_folder / name).string() + ": ")) << why;
    EXPECT_EQ(found.unread[0].status(), Status::damaged) << why;
    EXPECT_EQ(found.files.size(), 1u) << name;
    fs::remove_all(m_checkpoint);
    make();
  };
  make();
  std::ofstream(m_folder / "config.json") << "configuratiom";
  expect_damaged("config.json");
  std::ofstream(m_folder / "config.json") << "configuration and more";
  expect_damaged("config.json");
  fs::remove(m_folder / kTypesFile);
  expect_damaged(kTypesFile);
  std::ofstream(m_dir / "equal") << "configuration";
  fs::remove(m_folder / "config.json");
  fs::create_symlink(m_dir / "equal", m_folder / "config.json");
  expect_damaged("config.json");
  fs::remove(m_folder / "config.json");
  ASSERT_EQ(::mkfifo((m_folder / "config.json").c_str(), 0600), 0);
  expect_damaged("config.json");
  fs::remove(m_folder / "config.json");
  fs::create_directory(m_folder / "config.json");
  expect_damaged("config.json");
}

// It may be sound, and so nobody should put another one in its place.
TEST_F(CheckpointSinkTest, what_is_carried_and_cannot_be_opened_now_is_not_damaged) {
  make();
  CarriedSums const sums = CheckpointReader(m_checkpoint).carried();
  auto const found = [&] {
    test::ResourceLimit const no_more_files(RLIMIT_NOFILE, 0);
    return read_carried(m_checkpoint, sums);
  }();
  ASSERT_EQ(found.unread.size(), 2u);
  EXPECT_EQ(found.unread[0].what(),
            (m_folder / "config.json").string() + ": cannot be read: Too many open files");
  EXPECT_EQ(found.unread[0].status(), Status::bad_input);
}

TEST_F(CheckpointSinkTest, strangers_are_named_and_passed_over) {
  make();
  EXPECT_TRUE(CheckpointReader(m_checkpoint).foreign_files().empty());
  std::ofstream(m_checkpoint / "notes.txt") << "mine";
  fs::create_directory(m_folder / "folder");
  fs::create_symlink("config.json", m_folder / "link.json");
  std::ofstream(m_folder / "large") << "";
  fs::resize_file(m_folder / "large", kMostCarriedBytes + 1);
  CheckpointReader reader(m_checkpoint);
  EXPECT_EQ(reader.foreign_files(),
            (std::vector<std::string>{"huggingface/folder", "huggingface/large",
                                      "huggingface/link.json", "notes.txt"}));
  EXPECT_EQ(values_of(reader).size(), 6u);
  auto const found = read_carried(m_checkpoint, reader.carried());
  EXPECT_TRUE(found.unread.empty());
  EXPECT_EQ(found.files.size(), 2u);

  fs::remove_all(m_folder);
  std::ofstream(m_folder) << "a file";
  EXPECT_EQ(values_of(reader = CheckpointReader(m_checkpoint)).size(), 6u);
  EXPECT_EQ(read_carried(m_checkpoint, reader.carried()).unread.size(), 2u);
}

TEST_F(CheckpointSinkTest, more_than_is_carried_is_said_of_each) {
  CarriedSums sums;
  for (int i = 0; i < 40; ++i) sums[std::to_string(i)] = {1, "0"};
  sums["large"] = {kMostCarriedBytes + 1, "0"};
  EXPECT_EQ(read_carried(m_checkpoint, sums).unread.size(), 41u);
  CarriedFiles files;
  for (int i = 0; i < 40; ++i) files.push_back({std::to_string(i), kFileMode, "text"});
  auto const found = read_carried(m_dir / "many", write_carried(m_dir / "many", files));
  EXPECT_EQ(found.files.size(), kMostCarriedFiles);
  EXPECT_EQ(found.unread.size(), 40 - kMostCarriedFiles);
}

// Two as large as one may be are as much as there may be.
TEST_F(CheckpointSinkTest, exactly_as_much_as_is_carried_is_read) {
  auto const folder = m_dir / "full" / kCarriedFolder;
  fs::create_directories(folder);
  auto const sum_of = [](std::string const& text) {
    return checksum_text(checksum(std::as_bytes(std::span(text))));
  };
  CarriedSums sums;
  for (auto const* name : {"a", "b"}) {
    std::ofstream(folder / name) << "";
    fs::resize_file(folder / name, kMostCarriedBytes);
    sums[name] = {kMostCarriedBytes, sum_of(std::string(kMostCarriedBytes, '\0'))};
  }
  std::ofstream(folder / "c") << "x";
  std::ofstream(folder / "d") << "";
  sums["c"] = {1, sum_of("x")};
  sums["d"] = {0, sum_of("")};
  auto const found = read_carried(m_dir / "full", sums);
  ASSERT_EQ(found.files.size(), 3u);
  EXPECT_EQ(size_bytes(found.files), 134'217'728);
  EXPECT_EQ(found.files[2].name, "d");
  ASSERT_EQ(found.unread.size(), 1u);
  EXPECT_EQ(found.unread[0].what(), (folder / "c").string() + ": is more than what is carried");
}

TEST_F(CheckpointSinkTest, permissions_are_no_wider_than_they_were_nor_than_the_umask) {
  auto const mode_after = [&](mode_t mode, mode_t mask) {
    auto const before = ::umask(mask);
    write_carried(m_dir / "modes", {{"file", mode, "text"}});
    ::umask(before);
    struct stat info {};
    EXPECT_EQ(::stat((m_dir / "modes" / kCarriedFolder / "file").c_str(), &info), 0);
    return info.st_mode & 07777;
  };
  EXPECT_EQ(mode_after(0600, 0), 0600u);
  EXPECT_EQ(mode_after(0640, 0), 0640u);
  EXPECT_EQ(mode_after(kFileMode, 0), 0666u);
  EXPECT_EQ(mode_after(kFileMode, 002), 0664u);
  EXPECT_EQ(mode_after(0644, 077), 0600u);
}

TEST_F(CheckpointSinkTest, a_seal_that_carries_a_path_is_damaged) {
  make();
  auto const sound = unsealed(get(m_checkpoint / seal_name));
  for (std::string const name : {"../seal", "..", "", "line\\nbreak"}) {
    auto text = sound;
    auto const at = text.find("\"config.json\"");
    text.replace(at, 13, '"' + name + '"');
    std::ofstream(m_checkpoint / seal_name) << sealed(text);
    expect_error([&] { CheckpointReader reader(m_checkpoint); }, Status::damaged,
                 "impossible name");
  }
  std::ofstream(m_checkpoint / seal_name) << sealed(sound);
  EXPECT_EQ(CheckpointReader(m_checkpoint).carried().size(), 2u);
}

}  // namespace
}  // namespace spillway::checkpoint_sink_test
