#include "base/printable.hpp"

#include <gtest/gtest.h>
#include <pty.h>
#include <unistd.h>

#include <array>
#include <functional>
#include <string>

#include "base/error.hpp"
#include "base/log.hpp"
#include "base/standard_streams.hpp"

namespace spillway {
namespace {

using namespace std::string_literals;

TEST(Printable, shows_what_a_terminal_would_obey) {
  EXPECT_EQ(printable("\033[31mred\033[0m\r\b\a\x7f"), "\\x1b[31mred\\x1b[0m\\x0d\\x08\\x07\\x7f");
  EXPECT_EQ(printable("a\0b"s), "a\\x00b");
  EXPECT_EQ(printable("\xc2\x9b"), "\\xc2\\x9b") << "CSI as a character of UTF-8";
  EXPECT_EQ(printable("\x9b"), "\\x9b") << "CSI as one byte";
}

TEST(Printable, leaves_lines_tabs_and_utf8_alone) {
  for (auto const* text : {"a\tb\nc", "Größe 10 µs", "損失", "😀", "\u00a0", ""})
    EXPECT_EQ(printable(text), text);
}

TEST(Printable, tells_text_from_other_bytes) {
  for (auto const* text : {"", "a\r\n\033[0m", "Größe", "損失", "😀"})
    EXPECT_TRUE(is_text(text)) << text;
  for (auto const& bytes : {"a\0b"s, "\xc3"s, "ab\xff"s, "\xed\xa0\x80"s, "\xe6\x90 "s})
    EXPECT_FALSE(is_text(bytes)) << printable(bytes);
}

TEST(Printable, shows_what_is_no_utf8) {
  EXPECT_EQ(printable("\xc3"), "\\xc3");
  EXPECT_EQ(printable("\xc3("), "\\xc3(");
  EXPECT_EQ(printable("\xe6\x90"), "\\xe6\\x90");
  EXPECT_EQ(printable("\xc0\xaf"), "\\xc0\\xaf") << "overlong";
  EXPECT_EQ(printable("\xe0\x80\xaf"), "\\xe0\\x80\\xaf") << "overlong";
  EXPECT_EQ(printable("\xed\xa0\x80"), "\\xed\\xa0\\x80") << "a surrogate";
  EXPECT_EQ(printable("\xf5\x80\x80\x80"), "\\xf5\\x80\\x80\\x80");
}

TEST(Printable, holds_back_a_character_that_is_cut_short) {
  EXPECT_EQ(whole_characters_bytes("ab"), 2u);
  EXPECT_EQ(whole_characters_bytes("ab\xc3"), 2u);
  EXPECT_EQ(whole_characters_bytes("ab\xc3\xb6"), 4u);
  EXPECT_EQ(whole_characters_bytes("ab\xf0\x9f\x98"), 2u);
  EXPECT_EQ(whole_characters_bytes("ab\xf0\x9f\x98\x80"), 6u);
  EXPECT_EQ(whole_characters_bytes("\x80\x80\x80\x80"), 4u) << "no character: not held for ever";
  EXPECT_EQ(whole_characters_bytes(""), 0u);
}

// What `body` writes to descriptor `fd` while a terminal stands there; "\r\n" as "\n".
std::string on_terminal(int fd, std::function<void()> const& body) {
  int master = -1, terminal = -1;
  EXPECT_EQ(::openpty(&master, &terminal, nullptr, nullptr, nullptr), 0);
  int const before = ::dup(fd);
  ::dup2(terminal, fd);
  body();
  EXPECT_EQ(::write(fd, "\x04", 1), 1);  // the end, for the reader below
  ::dup2(before, fd);
  std::string text;
  for (std::array<char, 256> some{}; !text.ends_with('\x04');) {
    auto const size = ::read(master, some.data(), some.size());
    if (size <= 0) break;
    text.append(some.data(), static_cast<std::size_t>(size));
  }
  for (int const each : {before, terminal, master}) ::close(each);
  text.erase(text.size() - 1);
  for (auto at = text.find("\r\n"); at != text.npos; at = text.find("\r\n", at)) text.erase(at, 1);
  return text;
}

TEST(StandardStreams, a_terminal_gets_no_escapes_but_our_own) {
  EXPECT_EQ(on_terminal(2, [] { say("file \033]0;title\a"); }), "file \\x1b]0;title\\x07\n");
  EXPECT_EQ(on_terminal(2, [] { say_live("step \033[1m"); }), "\r\033[Kstep \\x1b[1m");
  EXPECT_EQ(on_terminal(1, [] { print_result("a\033[1m\n"); }), "a\\x1b[1m\n");
  EXPECT_EQ(on_terminal(1, [] { print_bytes("a\033[1m\n"); }), "a\\x1b[1m\n");
  EXPECT_EQ(on_terminal(2,
                        [] {
                          set_up_log(true);
                          log_warning("{}: damaged", "\033[2J");
                        }),
            "spillway: warning: \\x1b[2J: damaged\n");
}

// What `body` writes to descriptor `fd` while a pipe stands there.
std::string on_pipe(int fd, std::function<void()> const& body) {
  std::array<int, 2> ends{};
  EXPECT_EQ(::pipe(ends.data()), 0);
  int const before = ::dup(fd);
  ::dup2(ends[1], fd);
  body();
  ::dup2(before, fd);
  std::array<char, 256> some{};
  auto const size = ::read(ends[0], some.data(), some.size());
  for (int const each : {before, ends[0], ends[1]}) ::close(each);
  return {some.data(), static_cast<std::size_t>(size)};
}

TEST(StandardStreams, a_pipe_gets_a_models_bytes_as_they_are) {
  EXPECT_EQ(on_pipe(1, [] { print_bytes("a\033\x80\n"); }), "a\033\x80\n");
  EXPECT_EQ(on_pipe(1, [] { print_result("a\033\n"); }), "a\\x1b\n");
}

}  // namespace
}  // namespace spillway
