// Where outputs go: links, descriptors, what is judged and when, and what is left of those that do
// not come to their end.
#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "io/file/destination.hpp"
#include "io/file/file.hpp"
#include "io/file/output.hpp"
#include "io/file/partial.hpp"
#include "io/file/path_names.hpp"
#include "tests/support/names_in.hpp"
#include "tests/support/refused_with.hpp"
#include "tests/support/resource_limit.hpp"

namespace spillway::test::destinations_test {
namespace {

namespace fs = std::filesystem;
using Names = std::vector<std::string>;

class Destinations : public testing::Test {
 protected:
  Destinations() {
    fs::remove_all(m_dir);
    fs::create_directories(m_dir);
  }
  ~Destinations() override { fs::remove_all(m_dir); }

  void put(fs::path const& name, std::string const& text) const {
    std::ofstream(m_dir / name) << text;
  }
  std::string get(fs::path const& name) const {
    std::ostringstream text;
    text << std::ifstream(m_dir / name).rdbuf();
    return text.str();
  }
  // An open file that has this text, and stands behind it.
  FileDescriptor standing_behind(std::string const& text) const {
    FileDescriptor file(
        ::open((m_dir / "open").c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
    EXPECT_EQ(::write(file.get(), text.data(), text.size()), std::ssize(text));
    return file;
  }
  static fs::path name_of(FileDescriptor const& file) {
    return fmt::format("/proc/self/fd/{}", file.get());
  }

  fs::path const m_dir = fs::canonical(testing::TempDir()) / "spillway-destinations";
};

TEST_F(Destinations, of_links_are_looked_for_from_the_folder_that_each_lies_in) {
  fs::create_directories(m_dir / "a/b");
  put("a/b/file", "text");
  fs::create_symlink("a/second", m_dir / "first");
  fs::create_symlink("b/third", m_dir / "a/second");
  fs::create_symlink("file", m_dir / "a/b/third");
  fs::create_symlink(m_dir / "a/second", m_dir / "absolute");
  for (auto const* name : {"first", "absolute", "a/b/file"}) {
    auto const to = destination_of(m_dir / name);
    EXPECT_EQ(to.path, m_dir / "a/b/file") << name;
    EXPECT_TRUE(to.exists) << name;
    EXPECT_EQ(to.info.st_size, 4) << name;
    EXPECT_EQ(to.descriptor, std::nullopt) << name;
    EXPECT_FALSE(to.is_written_through()) << name;
  }
  fs::create_symlink("none", m_dir / "a/dangling");
  auto const none = destination_of(m_dir / "a/dangling");
  EXPECT_EQ(none.path, m_dir / "a/none");
  EXPECT_FALSE(none.exists);
  EXPECT_EQ(none.info.st_mode, 0u);
}

TEST_F(Destinations, that_are_open_here_are_known_under_any_name) {
  auto file = standing_behind("12345");
  auto const number = file.get();
  auto const name = name_of(file);
  fs::create_symlink(name, m_dir / "link");
  for (auto const& path : {name, m_dir / "link"}) {
    auto const to = destination_of(path);
    EXPECT_EQ(to.descriptor, number) << path;
    EXPECT_EQ(to.info.st_size, 5) << path;
    EXPECT_TRUE(to.exists) << path;
    EXPECT_TRUE(to.is_written_through()) << path;
  }
  file.reset();
  EXPECT_EQ(refused_with([&] { destination_of(name); }),
            name.string() + ": cannot be created: Bad file descriptor");
}

TEST_F(Destinations, are_gone_through_where_they_are_devices_pipes_or_open) {
  auto const is_written_through = [](mode_t mode, std::optional<int> descriptor) {
    Destination to{"a", descriptor};
    to.info.st_mode = mode;
    return to.is_written_through();
  };
  for (mode_t const kind : {S_IFCHR, S_IFIFO, S_IFBLK})
    EXPECT_TRUE(is_written_through(kind | 0644, {})) << kind;
  for (mode_t const kind : {S_IFREG, S_IFDIR, S_IFSOCK, 0}) {
    EXPECT_FALSE(is_written_through(kind | 0644, {})) << kind;
    EXPECT_TRUE(is_written_through(kind | 0644, 0)) << kind;
  }
}

TEST_F(Destinations, are_the_same_by_device_and_number_together) {
  struct stat one {};
  one.st_dev = 3;
  one.st_ino = 50;
  auto other = one;
  other.st_size = 7;
  EXPECT_TRUE(is_same_file(one, other));
  other.st_dev = 4;
  EXPECT_FALSE(is_same_file(one, other));
  other.st_dev = 3;
  other.st_ino = 51;
  EXPECT_FALSE(is_same_file(one, other));
}

std::vector<std::string> beginnings;  // that a kind was asked about

OutputRule noting(bool force) {
  return {{"a kind", [](std::string_view text) { return beginnings.emplace_back(text), true; }},
          {},
          force};
}
OutputRule refusing() {
  return {{"a kind", [](std::string_view) { return false; }}, {}, false};
}

TEST_F(Destinations, are_known_by_their_first_4096_bytes_where_somebody_asks) {
  std::string text;
  for (int i = 0; i < 5000; ++i) text += static_cast<char>(' ' + i % 90);
  put("long", text);
  put("short", "short");
  put("empty", "");
  auto const open = standing_behind("open");
  beginnings.clear();
  for (auto const& path : {m_dir / "long", m_dir / "short", m_dir / "empty", m_dir / "new",
                           fs::path("/dev/null"), name_of(open)})
    Output(path, noting(false));
  Output(m_dir / "long", noting(true));
  EXPECT_EQ(beginnings, (Names{text.substr(0, 4096), "short"}));
}

TEST_F(Destinations, of_two_unfinished_files_are_one_and_each_goes_alone) {
  auto const first_name = fmt::format("out.spillway-{}", ::getpid());
  {
    UnfinishedFile first(Output(m_dir / "out")), second(Output(m_dir / "out"));
    EXPECT_EQ(first.path(), m_dir / first_name);
    EXPECT_EQ(second.path(), m_dir / (first_name + ".1"));
    put(second.path(), "second");
    second.finish();
    EXPECT_EQ(names_in(m_dir), (Names{"out", first_name}));
  }
  EXPECT_EQ(names_in(m_dir), Names{"out"});
  EXPECT_EQ(get("out"), "second");
}

TEST_F(Destinations, that_somebody_took_meanwhile_are_judged_again) {
  auto const expect_refused = [&](auto const& action) {
    EXPECT_TRUE(refused_with(action).starts_with((m_dir / "new").string() +
                                                 ": is there and is not a kind of this program"));
    EXPECT_EQ(get("new"), "mine");
  };
  {
    Output const output(m_dir / "new", refusing());
    UnfinishedFile unfinished(output);
    put("new", "mine");
    expect_refused([&] { output.require_allowed(); });
    expect_refused([&] { write_output(output, "text"); });
    expect_refused([&] { UnfinishedFile another(output); });
    expect_refused([&] { unfinished.finish(); });
  }
  EXPECT_EQ(names_in(m_dir), Names{"new"});
}

TEST_F(Destinations, that_are_open_get_more_where_they_stand_and_stay_open) {
  auto const file = standing_behind("old ");
  Output const output(name_of(file));
  write_output(output, "new ");
  std::string text;
  for (int i = 0; i < 150'000; ++i) text += static_cast<char>(' ' + i % 90);
  {
    UnfinishedFile unfinished(output);
    std::ofstream(unfinished.path()) << text;
    unfinished.finish();
    EXPECT_EQ(names_in(m_dir), Names{"open"});
  }
  EXPECT_EQ(::write(file.get(), "!", 1), 1);
  EXPECT_EQ(get("open"), "old new " + text + "!");
}

TEST_F(Destinations, are_standard_output_only_where_results_are_printed) {
  auto const file = standing_behind("");
  EXPECT_TRUE(Output("/proc/self/fd/1").is_standard_output());
  EXPECT_TRUE(Output("/proc/self/fd/1").is_written_through());
  EXPECT_FALSE(Output(name_of(file)).is_standard_output());
  EXPECT_TRUE(Output(name_of(file)).is_written_through());
  EXPECT_FALSE(Output(m_dir / "new").is_standard_output());
  EXPECT_FALSE(Output(m_dir / "new").is_written_through());
}

TEST_F(Destinations, that_get_no_name_are_removed_with_all_that_is_in_them) {
  auto const make = [&](std::string const& name) {
    return [this, name] {
      fs::create_directories(m_dir / name / "deep");
      put(name + "/deep/file", "text");
      return m_dir / name;
    };
  };
  {
    Partial kept(make("kept")), failed(make("failed")), forgotten(make("forgotten"));
    EXPECT_EQ(failed.path(), m_dir / "failed");
    kept.publish([&] { fs::rename(kept.path(), m_dir / "named"); });
    EXPECT_THROW(failed.publish([] { throw Error(Status::storage, "no"); }), Error);
    EXPECT_EQ(names_in(m_dir), (Names{"failed", "forgotten", "named"}));
  }
  EXPECT_EQ(names_in(m_dir), Names{"named"});
  EXPECT_EQ(get("named/deep/file"), "text");
  EXPECT_THROW(Partial([]() -> fs::path { throw Error(Status::storage, "no"); }), Error);
}

TEST_F(Destinations, of_an_open_file_are_its_names_and_those_that_cannot_be_looked_at) {
  auto const file = standing_behind("text");
  fs::create_hard_link(m_dir / "open", m_dir / "twin");
  fs::create_symlink("loop", m_dir / "loop");
  EXPECT_TRUE(is_named(file, m_dir / "open"));
  EXPECT_TRUE(is_named(file, m_dir / "twin"));
  EXPECT_TRUE(is_named(file, m_dir / "loop"));
  EXPECT_FALSE(is_named(file, m_dir / "none"));
  fs::remove(m_dir / "open");
  EXPECT_FALSE(is_named(file, m_dir / "open"));
  put("open", "text");
  EXPECT_FALSE(is_named(file, m_dir / "open"));
  EXPECT_TRUE(is_named(FileDescriptor(), m_dir / "open"));
}

TEST_F(Destinations, lie_in_the_folders_that_their_names_say) {
  EXPECT_EQ(directory_of("a/b"), "a");
  EXPECT_EQ(directory_of("b"), ".");
  EXPECT_EQ(directory_of("/b"), "/");
  EXPECT_EQ(without_slash("a/b/"), "a/b");
  EXPECT_EQ(without_slash("a/b"), "a/b");
  EXPECT_EQ(prepared_path("a/b.c"), "a/b.c.partial");
}

TEST_F(Destinations, are_folders_for_whom_the_umask_says) {
  auto const before = ::umask(0);
  make_directories(m_dir / "one/two/");
  ::umask(027);
  make_directories(m_dir / "one/two/three/four");
  ::umask(before);
  auto const permissions = [&](char const* name) {
    return fs::status(m_dir / name).permissions() & fs::perms::all;
  };
  for (auto const* name : {"one", "one/two"}) EXPECT_EQ(permissions(name), fs::perms(0777)) << name;
  for (auto const* name : {"one/two/three", "one/two/three/four"})
    EXPECT_EQ(permissions(name), fs::perms(0750)) << name;
  EXPECT_NO_THROW(make_directories(m_dir / "one/two"));
  EXPECT_NO_THROW(make_directories(""));
}

TEST_F(Destinations, whose_new_text_finds_no_room_keep_the_old_one_alone) {
  put("text", "old");
  auto const said = [&] {
    FileSizeLimit const limit(3);
    return refused_with([&] { replace_text(m_dir / "text", "longer"); }, Status::storage);
  }();
  EXPECT_EQ(said, (m_dir / "text.partial").string() + ": cannot be written: File too large");
  EXPECT_EQ(names_in(m_dir), Names{"text"});
  EXPECT_EQ(get("text"), "old");
  replace_text(m_dir / "text", "new");
  EXPECT_EQ(names_in(m_dir), Names{"text"});
  EXPECT_EQ(get("text"), "new");
}

}  // namespace
}  // namespace spillway::test::destinations_test
