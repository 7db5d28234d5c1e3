#include "report/last_line.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "base/input_file.hpp"

namespace spillway::last_line_test {
namespace {

namespace fs = std::filesystem;

class LastLine : public ::testing::Test {
 protected:
  ~LastLine() override { fs::remove(m_path); }
  FileDescriptor file(std::string const& text) const {
    std::ofstream(m_path) << text;
    return open_for_reading(m_path);
  }
  fs::path const m_path = fs::path(::testing::TempDir()) / "spillway-last-line";
};

TEST_F(LastLine, ends_behind_the_last_newline) {
  EXPECT_EQ(end_of_last_line(file("").get(), 0), 0);
  EXPECT_EQ(end_of_last_line(file("half").get(), 4), 0);
  EXPECT_EQ(end_of_last_line(file("a\nb\n").get(), 4), 4);
  EXPECT_EQ(end_of_last_line(file("a\nb\nhalf").get(), 8), 4);
  EXPECT_EQ(end_of_last_line(file("a\n" + std::string(9000, 'x')).get(), 9002), 2);
}

// No place in it is known to be one where a row ends.
TEST_F(LastLine, ends_nowhere_where_it_cannot_be_read) {
  EXPECT_EQ(end_of_last_line(file("a\nb\n").get(), 5), std::nullopt) << "it has become shorter";
  FileDescriptor const written(::open(m_path.c_str(), O_WRONLY | O_CLOEXEC));
  EXPECT_EQ(end_of_last_line(written.get(), 4), std::nullopt);
}

}  // namespace
}  // namespace spillway::last_line_test
