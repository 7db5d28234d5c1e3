// What is said of files, directories and outputs that cannot be had.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <regex>

#include "io/file/file.hpp"
#include "io/file/in_child.hpp"
#include "io/file/inside.hpp"
#include "io/file/new_directory.hpp"
#include "io/file/output.hpp"
#include "io/file/output_file.hpp"
#include "io/file/read_file.hpp"
#include "io/spill/spill_file.hpp"
#include "tests/support/frozen.hpp"
#include "tests/support/refusals.hpp"

namespace spillway::test::file_refusals_test {
namespace {

namespace fs = std::filesystem;

class FileRefusals : public testing::Test {
 protected:
  FileRefusals() {
    fs::remove_all(m_dir);
    fs::create_directories(m_dir / "full");
    put("file", "some text");
    put("full/inside", "more");
  }
  ~FileRefusals() override { fs::remove_all(m_dir); }

  void put(fs::path const& name, std::string const& text) const {
    std::ofstream(m_dir / name) << text;
  }
  void expect_frozen(char const* name) const {
    auto const text = std::regex_replace(
        m_said.text(), std::regex("[0-9]+ (are )?free( \\([^)]*\\))?"), "# $1free");
    test::expect_frozen(fmt::format("refusals_{}.txt", name), text);
  }

  fs::path const m_dir = fs::canonical(testing::TempDir()) / "spillway_file_refusals";
  Refusals m_said{m_dir};
};

TEST_F(FileRefusals, of_files_say_what_was_wanted_of_which_and_why_not) {
  FileDescriptor const none, directory(::open(m_dir.c_str(), O_RDONLY | O_CLOEXEC)),
      file(::open((m_dir / "file").c_str(), O_RDONLY | O_CLOEXEC));
  std::array<std::byte, 10> bytes{};
  m_said.add("size of what is closed", [&] { size_bytes(none, m_dir / "file"); });
  m_said.add("size of a file", [&] { m_said.say("", std::to_string(size_bytes(file, m_dir))); });
  m_said.add("space of a missing one", [&] { free_bytes(m_dir / "none"); });
  m_said.add("more space than there is",
             [&] { require_free_bytes(m_dir, std::int64_t{1} << 60, "the thing"); });
  m_said.add("sync of a missing one", [&] { sync_path(m_dir / "none"); });
  m_said.add("directory below a file", [&] { make_directories(m_dir / "file/below"); });
  m_said.add("directory in place of a file", [&] { make_directories(m_dir / "file"); });
  m_said.add("publish what was not prepared", [&] { publish_text(m_dir / "text"); });
  m_said.add("replace in a missing directory", [&] { replace_text(m_dir / "none/text", "text"); });
  m_said.add("replace a directory", [&] { replace_text(m_dir / "full", "text"); });
  EXPECT_FALSE(fs::exists(prepared_path(m_dir / "full")));
  m_said.add("read beyond the end", [&] { read_range(file, m_dir / "file", 0, bytes); });
  m_said.add("read a directory", [&] { read_range(directory, m_dir, 0, bytes); });
  m_said.add("read a larger text", [&] { read_text(m_dir / "file", 8); });
  m_said.add("read as large a text", [&] { m_said.say("", read_text(m_dir / "file", 9)); });
  m_said.add("read what has no seal", [&] { read_sealed_text(m_dir / "file", 9); });
  m_said.add("create over a directory", [&] { OutputFile::create(m_dir / "full"); });
  m_said.add("create in a missing directory", [&] { OutputFile::create(m_dir / "none/file"); });
  m_said.add("open a directory", [&] { OutputFile::open(m_dir); });
  m_said.add("open a device", [&] { OutputFile::open("/dev/null"); });
  auto output = OutputFile::create(m_dir / "closed");
  ::close(output.descriptor());
  m_said.add("write what is closed", [&] { output.write(0, bytes); });
  m_said.add("synchronise what is closed", [&] { output.close(Durable::yes); });
  m_said.add("close what is closed", [&] { output.close(Durable::no); });
  expect_frozen("files");
}

TEST_F(FileRefusals, of_outputs_say_what_to_name_instead) {
  OutputKind const none_of_ours{"a kind of file", [](std::string_view) { return false; }};
  OutputRule const rule{none_of_ours, {m_dir / "none", m_dir / "full/inside"}, false};
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  auto const at = (m_dir / "socket").string();
  at.copy(address.sun_path, sizeof address.sun_path - 1);
  FileDescriptor const socket(::socket(AF_UNIX, SOCK_STREAM, 0));
  ASSERT_EQ(::bind(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  fs::create_symlink("loop", m_dir / "loop");
  m_said.add("no name", [&] { Output("", rule); });
  for (auto const* name :
       {"new", "file", "full", "full/", "full/inside", "socket", "loop", "none/file", "file/below"})
    m_said.add(name, [&] { Output(m_dir / name, rule); });
  m_said.add("file, by force", [&] { Output(m_dir / "file", {none_of_ours, {}, true}); });
  m_said.add("file, of any kind", [&] { Output(m_dir / "file"); });
  for (auto const* name : {"full", "full/inside", "", "other", "full-er"})
    m_said.add(fmt::format("full, which reads '{}'", name),
               [&] { require_apart(m_dir / "full", m_dir / name); });
  auto const* const before = std::getenv("TMPDIR");
  auto const folder = std::string(before == nullptr ? "" : before);
  ::setenv("TMPDIR", (m_dir / "none").c_str(), 1);
  m_said.add("without a folder", [&] { UnfinishedFile file(Output("/dev/null")); });
  before == nullptr ? ::unsetenv("TMPDIR") : ::setenv("TMPDIR", folder.c_str(), 1);
  expect_frozen("outputs");
}

TEST_F(FileRefusals, of_a_drive_say_how_it_is_written_over) {
  if (::mknod((m_dir / "drive").c_str(), S_IFBLK | 0600, ::makedev(7, 250)) != 0)
    GTEST_SKIP() << "makes no devices";
  m_said.add("drive", [&] { Output(m_dir / "drive", {{"a file", {}}, {}, false}); });
  EXPECT_EQ(m_said.text(),
            "drive\n  2: /drive: is a drive: name a file, or write over the drive with --force\n");
}

TEST_F(FileRefusals, of_directories_and_children_name_them) {
  auto const never = [](fs::path const&) { return false; };
  m_said.add("one that is there", [&] { NewDirectory one(m_dir / "full"); });
  m_said.add("one of another kind", [&] { NewDirectory one(m_dir / "full/", never); });
  m_said.add("a file", [&] { NewDirectory one(m_dir / "file", [](auto&) { return true; }); });
  {
    NewDirectory held(m_dir / "held");
    m_said.add("one that is being written", [&] { NewDirectory one(m_dir / "held"); });
    put("held", "somebody's");
    m_said.add("one whose name was taken", [&] { held.publish(); });
  }
  fs::create_symlink("../file", m_dir / "full/out");
  m_said.add("a link that leads out", [&] { open_inside(m_dir / "full", "out"); });
  m_said.add("a missing one", [&] { open_inside(m_dir / "full", "none"); });
  m_said.add("a child that is killed",
             [&] { in_child(m_dir / "file", [] { return ::raise(SIGKILL), std::string(); }); });
  m_said.add("a child that throws", [&] {
    in_child(m_dir / "file", []() -> std::string { throw std::runtime_error("its words"); });
  });
  m_said.add("no place for a spill file", [&] { SpillFile file(m_dir / "none", 4096, {}); });
  m_said.add("no room for a spill file",
             [&] { SpillFile file(m_dir, std::int64_t{1} << 50, {.spare_bytes = 0}); });
  expect_frozen("directories");
}

}  // namespace
}  // namespace spillway::test::file_refusals_test
