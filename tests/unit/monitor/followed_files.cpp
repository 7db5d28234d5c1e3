// A file that somebody else writes, cuts, removes and makes again.
#include <gtest/gtest.h>

#include <fstream>

#include "monitor/followed_file.hpp"
#include "tests/support/in_directory.hpp"

namespace spillway::test::followed_files_test {
namespace {

using Lines = std::vector<std::string>;

class FollowedFiles : public InDirectory {
 protected:
  void append(std::string const& text) const {
    std::ofstream(m_path, std::ios::app | std::ios::binary) << text;
  }
  std::filesystem::path const m_path = m_dir / "metrics.jsonl";
  FollowedFile m_file{m_path};
};

TEST_F(FollowedFiles, tell_each_whole_line_once) {
  EXPECT_EQ(m_file.look().lines, Lines{});
  EXPECT_EQ(m_file.written_at_s(), 0);
  append("one\ntw");
  EXPECT_EQ(m_file.look().lines, (Lines{"one"}));
  EXPECT_GT(m_file.written_at_s(), 0);
  EXPECT_EQ(m_file.look().lines, Lines{});
  append("o\nthree\n");
  auto const news = m_file.look();
  EXPECT_EQ(news.lines, (Lines{"two", "three"}));
  EXPECT_FALSE(news.begins_anew);
}

TEST_F(FollowedFiles, are_read_in_parts_where_they_are_large) {
  Lines const lines(5, std::string(5 << 20, 'x'));
  for (auto const& line : lines) append(line + "\n");
  auto const first = m_file.look();
  EXPECT_TRUE(first.has_more);
  EXPECT_EQ(first.lines.size(), 3u);
  auto const rest = m_file.look();
  EXPECT_FALSE(rest.has_more);
  EXPECT_EQ(rest.lines.size(), 2u);
}

// A job that goes on cuts off the row that a killed one has left.
TEST_F(FollowedFiles, do_not_mind_that_half_a_line_is_cut_off) {
  append("one\nhal");
  EXPECT_EQ(m_file.look().lines, (Lines{"one"}));
  std::filesystem::resize_file(m_path, 4);
  auto news = m_file.look();
  EXPECT_FALSE(news.begins_anew);
  append("two\n");
  EXPECT_EQ(m_file.look().lines, (Lines{"two"}));
}

TEST_F(FollowedFiles, say_that_they_were_removed_and_begin_anew) {
  append("one\ntwo\n");
  m_file.look();
  std::filesystem::remove(m_path);
  EXPECT_TRUE(m_file.look().begins_anew);
  EXPECT_FALSE(m_file.look().begins_anew);
  append("three\n");
  EXPECT_EQ(m_file.look().lines, (Lines{"three"}));
}

// Between two looks, by one that is as long or longer, maybe at the same place of the disk.
TEST_F(FollowedFiles, are_known_by_how_they_begin) {
  append("one\ntwo\n");
  m_file.look();
  std::ofstream(m_path, std::ios::trunc) << "another\nand more\n";
  auto const news = m_file.look();
  EXPECT_TRUE(news.begins_anew);
  EXPECT_EQ(news.lines, (Lines{"another", "and more"}));
  std::ofstream(m_path, std::ios::trunc) << "x\n";
  EXPECT_TRUE(m_file.look().begins_anew);
}

TEST_F(FollowedFiles, that_are_no_files_have_no_news) {
  std::filesystem::create_directory(m_path);
  EXPECT_EQ(m_file.look().lines, Lines{});
}

}  // namespace
}  // namespace spillway::test::followed_files_test
