// The planted faults themselves: each of them is met by the small programs of every system.
#include <fmt/format.h>

#include "fault_test.hpp"
#include "preload.hpp"

namespace spillway::test::preload_bites_test {
namespace {

namespace fs = std::filesystem;

class PreloadBites : public FaultTest {
 protected:
  void SetUp() override {
    if (!can_preload()) GTEST_SKIP() << "a sanitizer's build cannot be preloaded";
    write("here", "text");
    fs::create_directory(m_dir / "folder");
  }

  // `command` with a fault in all calls of `calls` below this test's directory.
  Outcome with(std::string const& calls, std::string const& error, std::string const& command,
               Planted fault = {}) {
    fault.calls = calls;
    fault.what = error;
    if (fault.path.empty()) fault.path = m_dir.string();
    return run_command(planted(fault) + command);
  }

  void expect_bite(std::string const& call, std::string const& error, std::string const& command) {
    SCOPED_TRACE(call);
    auto const without = run_command(command);
    EXPECT_EQ(without.status, 0) << without.output;
    auto const outcome = with(call, error, command);
    EXPECT_NE(outcome.status, 0) << outcome.output;
  }

  std::string sh(std::string const& script) { return fmt::format("/bin/sh -c \"{}\" ", script); }
};

TEST_F(PreloadBites, every_call_fails_with_the_errno_that_was_asked_for) {
  auto const here = path("here"), folder = path("folder");
  expect_bite("write", "ENOSPC", sh("echo text > " + here));
  expect_bite("open", "EACCES", "cat " + here);
  expect_bite("fsync", "EIO", "sync " + here);
  expect_bite("fdatasync", "EIO", "sync -d " + here);
  expect_bite("ftruncate", "EIO", "truncate -s 3 " + here);
  expect_bite("flock", "ENOLCK", fmt::format("flock {} true", here));
  expect_bite("rename", "EIO", fmt::format("mv {0} {0}.new && mv {0}.new {0}", here));
  expect_bite("mkdir", "EIO", fmt::format("mkdir {0}/a && rmdir {0}/a", folder));
  expect_bite("unlink", "EIO", fmt::format("rm {0} && touch {0}", here));
  expect_bite("rmdir", "EIO", fmt::format("rmdir {0} && mkdir {0}", folder));
  expect_bite("close", "ENOSPC", fmt::format("dd if=/dev/zero of={} bs=1 count=9", here));
}

TEST_F(PreloadBites, the_errno_is_the_one_that_was_named) {
  auto const outcome = with("fsync", "EDQUOT", "sync " + path("here"));
  EXPECT_NE(outcome.output.find("quota"), std::string::npos) << outcome.output;
}

TEST_F(PreloadBites, only_the_calls_that_were_numbered) {
  auto const command = fmt::format("mkdir {0}/1 {0}/2 {0}/3 {0}/4 {0}/5", path("folder"));
  EXPECT_NE(with("mkdir", "EIO", command, {.at = "2-3"}).status, 0);
  for (int const name : {1, 4, 5}) EXPECT_TRUE(fs::exists(m_dir / "folder" / std::to_string(name)));
  for (int const name : {2, 3}) EXPECT_FALSE(fs::exists(m_dir / "folder" / std::to_string(name)));
}

TEST_F(PreloadBites, only_directories_or_only_what_is_none) {
  EXPECT_EQ(with("fsync", "EIO", "sync " + path("here"), {.kind = "directory"}).status, 0);
  EXPECT_NE(with("fsync", "EIO", "sync " + path("folder"), {.kind = "directory"}).status, 0);
  EXPECT_EQ(with("fsync", "EIO", "sync " + path("folder"), {.kind = "file"}).status, 0);
}

TEST_F(PreloadBites, only_paths_with_the_text_and_only_the_rank) {
  EXPECT_EQ(with("fsync", "EIO", "sync " + path("here"), {.path = "elsewhere"}).status, 0);
  auto const command = "sync " + path("here");
  EXPECT_EQ(with("fsync", "EIO", "env OMPI_COMM_WORLD_RANK=0 " + command, {.rank = "1"}).status, 0);
  EXPECT_NE(with("fsync", "EIO", "env OMPI_COMM_WORLD_RANK=1 " + command, {.rank = "1"}).status, 0);
  EXPECT_EQ(with("fsync", "EIO", command, {.rank = "1"}).status, 0);
}

TEST_F(PreloadBites, kills_before_the_call) {
  auto const command = fmt::format("rmdir {0}/a {0}/b {0}/c", path("folder"));
  for (auto const* name : {"a", "b", "c"}) fs::create_directory(m_dir / "folder" / name);
  EXPECT_EQ(with("rmdir", "kill", command, {.at = "2"}).status, 137);
  EXPECT_FALSE(fs::exists(m_dir / "folder/a"));
  EXPECT_TRUE(fs::exists(m_dir / "folder/b"));
}

TEST_F(PreloadBites, asks_to_stop_and_goes_on) {
  auto const command = fmt::format("rmdir {0}/a {0}/b", path("folder"));
  for (auto const* name : {"a", "b"}) fs::create_directory(m_dir / "folder" / name);
  EXPECT_EQ(with("rmdir", "stop", command, {.at = "2"}).status, 138);
  EXPECT_FALSE(fs::exists(m_dir / "folder/a"));
  Planted const stop{.calls = "mkdir", .path = m_dir.string(), .what = "stop"};
  auto const ignored = "trap \"\" USR1; " + planted(stop) + "mkdir " + path("folder/c");
  EXPECT_EQ(run_command(ignored).status, 0);
  EXPECT_TRUE(fs::exists(m_dir / "folder/c"));
}

TEST_F(PreloadBites, only_once_a_text_was_said) {
  auto const complains_of = [&](std::string const& place) {
    return sh(fmt::format("echo one >> {0}; cd {1}; echo two >> {0}", path("here"), place));
  };
  Planted const fault{.path = path("here"), .after = "cd to /no"};
  EXPECT_EQ(with("write", "kill", complains_of("/never"), fault).status, 0);
  EXPECT_EQ(with("write", "kill", complains_of("/nowhere"), fault).status, 137);
  EXPECT_EQ(read("here"), "textone\ntwo\none\n");
}

TEST_F(PreloadBites, counts_into_a_file) {
  auto const command = fmt::format("mkdir {0}/a {0}/b", path("folder"));
  EXPECT_EQ(with("mkdir", "", command, {.count_file = path("calls")}).status, 0);
  EXPECT_EQ(read("calls"), fmt::format("mkdir {0}/a\nmkdir {0}/b\n", path("folder")));
  auto const copy = fmt::format("dd if=/dev/zero of={} bs=1 count=9", path("here"));
  EXPECT_EQ(with("write", "", copy, {.count_file = path("writes"), .stride = 4}).status, 0);
  EXPECT_EQ(read("writes"), fmt::format("write {0}\nwrite {0}\n", path("here")));
}

TEST_F(PreloadBites, a_write_that_fails_leaves_half_of_it_where_that_is_asked_for) {
  auto const command = sh("echo 1234567 > " + path("here"));
  EXPECT_NE(with("write", "ENOSPC", command, {.writes_half = true}).status, 0);
  EXPECT_EQ(read("here"), "1234");
}

TEST_F(PreloadBites, a_misspelt_call_or_errno_is_no_silent_nothing) {
  EXPECT_NE(with("fsink", "EIO", "sync " + path("here")).status, 0);
  EXPECT_NE(with("fsync", "EWHAT", "sync " + path("here")).status, 0);
}

}  // namespace
}  // namespace spillway::test::preload_bites_test
