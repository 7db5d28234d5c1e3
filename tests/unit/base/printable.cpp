#include "base/printable.hpp"

#include <fmt/core.h>
#include <gtest/gtest.h>
#include <pty.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <functional>
#include <string>

#include "base/error.hpp"
#include "base/log.hpp"
#include "base/standard_streams.hpp"

namespace spillway::printable_test {
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

// In as many bytes as asked for, whether Unicode has it or not.
std::string encoded(std::uint32_t point, int bytes) {
  if (bytes == 1) return {static_cast<char>(point)};
  std::string text;
  for (int i = 1; i < bytes; ++i, point >>= 6)
    text.insert(text.begin(), static_cast<char>(0x80 | (point & 0x3f)));
  text.insert(text.begin(), static_cast<char>((0xf00 >> bytes & 0xff) | point));
  return text;
}

std::string escaped(std::string const& bytes) {
  std::string text;
  for (unsigned char const byte : bytes) text += fmt::format("\\x{:02x}", byte);
  return text;
}

TEST(Printable, knows_every_character_of_unicode_and_its_shortest_form) {
  for (std::uint32_t point = 0; point < 0x200000; ++point) {
    int const shortest = point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
    bool const is_control =
        (point < 0x20 && point != '\n' && point != '\t') || (point >= 0x7f && point < 0xa0);
    bool const is_one = point < 0x110000 && (point < 0xd800 || point >= 0xe000);
    auto const bytes = encoded(point, shortest);
    ASSERT_EQ(printable(bytes), is_one && !is_control ? bytes : escaped(bytes)) << point;
    ASSERT_EQ(is_text(bytes), is_one && point != 0) << point;
    if (shortest < 4) {
      auto const longer = encoded(point, shortest + 1);
      ASSERT_EQ(printable(longer), escaped(longer)) << point;
    }
  }
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
  EXPECT_EQ(on_terminal(2, [] { say("file"); }), "\r\033[Kfile\n") << "in place of the live line";
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

TEST(Log, names_its_levels_and_tells_infos_only_where_they_are_wanted) {
  auto const said = [](bool speaks) {
    return on_pipe(2, [&] {
      set_up_log(speaks);
      log_info("{} of {}", 1, "a");
      log_warning("b");
      log_error("c");
    });
  };
  EXPECT_EQ(said(true), "spillway: info: 1 of a\nspillway: warning: b\nspillway: error: c\n");
  EXPECT_EQ(said(false), "spillway: warning: b\nspillway: error: c\n");
}

TEST(Log, says_a_line_once_while_somebody_asks_for_that) {
  EXPECT_EQ(on_pipe(2,
                    [] {
                      set_up_log(true);
                      {
                        LinesOnce const once;
                        for (auto const* line : {"a", "b", "a"}) log_info("{}", line);
                      }
                      log_info("a");
                    }),
            "spillway: info: a\nspillway: info: b\nspillway: info: a\n");
}

}  // namespace
}  // namespace spillway::printable_test
