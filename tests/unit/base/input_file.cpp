// What may be read as an input, and how what may not is named.
#include "base/input_file.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>

#include "base/error.hpp"
#include "tests/support/interrupted.hpp"
#include "tests/support/refused_with.hpp"
#include "tests/support/resource_limit.hpp"

namespace spillway::input_file_test {
namespace {

namespace fs = std::filesystem;

class InputFile : public ::testing::Test {
 protected:
  InputFile() {
    fs::remove_all(m_root);
    fs::create_directories(m_root);
  }
  ~InputFile() override { fs::remove_all(m_root); }

  fs::path written(std::string const& text) const {
    std::ofstream(m_root / "file", std::ios::binary) << text;
    return m_root / "file";
  }
  static std::string refusal(fs::path const& path, std::int64_t most_bytes = 100) {
    return test::refused_with([&] { read_input(path, most_bytes); });
  }

  fs::path m_root = fs::path(::testing::TempDir()) / "spillway-input-file";
};

TEST_F(InputFile, is_read_whole_up_to_the_bytes_that_it_may_have) {
  std::string text;
  for (int i = 0; i < 70'001; ++i) text += static_cast<char>(i % 251);  // more than one part
  auto const path = written(text);
  EXPECT_EQ(read_input(path, 70'001), text);
  EXPECT_EQ(refusal(path, 70'000), path.string() + ": is larger than 68.4 KiB");
  EXPECT_EQ(read_input(written(""), 0), "");
}

TEST_F(InputFile, that_is_none_is_named_by_what_it_is) {
  auto const pipe = m_root / "pipe", there = m_root / "socket";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  int const socket = ::socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
  ASSERT_LT(there.string().size(), sizeof address.sun_path);
  there.string().copy(address.sun_path, sizeof address.sun_path - 1);
  ASSERT_EQ(::bind(socket, reinterpret_cast<sockaddr const*>(&address), sizeof address), 0);
  EXPECT_EQ(refusal(m_root), m_root.string() + ": is a directory, not a file");
  EXPECT_EQ(refusal(pipe), pipe.string() + ": is a pipe, not a file");
  EXPECT_EQ(refusal(there), there.string() + ": is a socket, not a file");
  EXPECT_EQ(refusal("/dev/null"), "/dev/null: is a device, not a file");
  EXPECT_EQ(refusal(m_root / "none"),
            (m_root / "none").string() + ": cannot be read: No such file or directory");
  ::close(socket);
}

TEST_F(InputFile, of_the_shell_may_be_a_pipe) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  ASSERT_EQ(::write(ends[1], "text", 4), 4);
  ::close(ends[1]);
  EXPECT_EQ(read_input("/dev/fd/" + std::to_string(ends[0]), 4), "text");
  ::close(ends[0]);
}

TEST_F(InputFile, of_the_shell_that_cannot_be_opened_or_read_says_why) {
  int const directory = ::open(m_root.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  auto const number = std::to_string(directory);
  EXPECT_EQ(refusal("/proc/self/fd/" + number),
            "/proc/self/fd/" + number + ": cannot be read: Is a directory");
  ::close(directory);
  EXPECT_EQ(refusal("/dev/fd/" + number),
            "/dev/fd/" + number + ": cannot be read: No such file or directory");
}

TEST_F(InputFile, is_read_on_where_a_signal_interrupts) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  std::string text;
  test::interrupted(
      [&] {
        auto const why =
            test::refused_with([&] { text = read_input("/dev/fd/" + std::to_string(ends[0]), 4); });
        EXPECT_EQ(why, "");
      },
      [&] {
        EXPECT_EQ(::write(ends[1], "text", 4), 4);
        ::close(ends[1]);
      });
  EXPECT_EQ(text, "text");
  ::close(ends[0]);
}

TEST_F(InputFile, waits_for_storage_and_is_closed_in_programs_that_are_started) {
  auto const file = open_for_reading(written("x"));
  EXPECT_EQ(::fcntl(file.get(), F_GETFL) & (O_NONBLOCK | O_ACCMODE), O_RDONLY);
  EXPECT_EQ(::fcntl(file.get(), F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
}

TEST_F(InputFile, for_which_no_descriptor_is_left_says_how_to_get_more) {
  auto const path = written("x");
  test::ResourceLimit const none(RLIMIT_NOFILE, 0);
  EXPECT_EQ(refusal(path),
            path.string() +
                ": cannot be read: Too many open files; `ulimit -n` says how many, and "
                "raises it");
}

}  // namespace
}  // namespace spillway::input_file_test
