#include "base/write_all.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <string>
#include <thread>

#include "tests/support/interrupted.hpp"

namespace spillway::write_all_test {
namespace {

// Returns what it took.
std::string fill(int fd) {
  std::string all;
  for (std::string const piece(4096, 'x');;) {
    auto const written = ::write(fd, piece.data(), piece.size());
    if (written < 0) return all;
    all += piece.substr(0, static_cast<std::size_t>(written));
  }
}

std::string read_to_end(int fd) {
  std::string all;
  std::array<char, 1 << 16> piece;
  while (true) {
    auto const got = ::read(fd, piece.data(), piece.size());
    if (got <= 0) return all;
    all.append(piece.data(), static_cast<std::size_t>(got));
  }
}

TEST(WriteAll, waits_for_room_where_the_descriptor_does_not) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
  auto const [from, to] = ends;
  ::fcntl(to, F_SETFL, O_NONBLOCK);
  auto expected = fill(to);  // the first write finds no room
  std::string const text(300'000, 'y');
  int error = -1;
  std::thread writer([&, to = to] {
    error = write_all(to, text);
    ::close(to);
  });
  auto const all = read_to_end(from);
  writer.join();
  ::close(from);
  EXPECT_EQ(error, 0);
  EXPECT_EQ(all, expected + text);
}

// Where the write waits itself, and where it waits for room.
TEST(WriteAll, goes_on_where_a_signal_interrupts) {
  for (int const flags : {0, O_NONBLOCK}) {
    std::array<int, 2> ends{};
    ASSERT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
    auto const [from, to] = ends;
    ::fcntl(to, F_SETFL, O_NONBLOCK);
    auto const before = fill(to);
    ::fcntl(to, F_SETFL, flags);
    int error = -1;
    std::string all;
    test::interrupted(
        [&, to = to] {
          error = write_all(to, "text");
          ::close(to);
        },
        [&, from = from] { all = read_to_end(from); });
    ::close(from);
    EXPECT_EQ(error, 0) << flags;
    EXPECT_TRUE(all == before + "text") << flags;
  }
}

TEST(WriteAll, gives_the_error_of_what_takes_nothing) {
  std::signal(SIGPIPE, SIG_IGN);
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
  ::close(ends[0]);
  EXPECT_EQ(write_all(ends[1], "text"), EPIPE);
  EXPECT_EQ(write_all(ends[1], ""), 0);
  ::close(ends[1]);
  EXPECT_EQ(write_all(-1, "text"), EBADF);
}

}  // namespace
}  // namespace spillway::write_all_test
