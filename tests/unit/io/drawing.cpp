// What is said of a gnuplot that does not draw, by one of the test's own.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "io/gnuplot/gnuplot.hpp"

namespace spillway::drawing_test {
namespace {

namespace fs = std::filesystem;

class Drawings : public ::testing::Test {
 protected:
  Drawings() {
    fs::create_directories(m_dir);
    ::setenv("PATH", (m_dir.string() + ":/usr/bin:/bin").c_str(), 1);
  }
  ~Drawings() override {
    ::setenv("PATH", m_path.c_str(), 1);
    fs::remove_all(m_dir);
  }

  Drawing drawn_by(std::string const& commands) const {
    auto const program = m_dir / "gnuplot";
    std::ofstream(program) << "#!/bin/sh\n" + commands + "\n";
    fs::permissions(program, fs::perms::owner_all);
    return draw("plot x");
  }

  std::string const m_path = std::getenv("PATH");
  fs::path const m_dir =
      fs::path(::testing::TempDir()) / ("spillway-gnuplot-" + std::to_string(::getpid()));
};

TEST_F(Drawings, are_what_gnuplot_writes_of_the_script) {
  auto const drawing = drawn_by("sed 's/^/picture of /'");
  EXPECT_EQ(drawing.picture, "picture of plot x");
  EXPECT_EQ(drawing.trouble, "");
}

TEST_F(Drawings, of_a_gnuplot_that_fails_are_none) {
  EXPECT_EQ(drawn_by("echo half; exit 3").trouble, "gnuplot failed (status 3)");
  EXPECT_EQ(drawn_by("echo half; kill -9 $$").trouble, "gnuplot failed (status -1)");
  EXPECT_EQ(drawn_by("true").trouble, "gnuplot drew nothing");
  EXPECT_EQ(drawn_by("echo half; exit 3").picture, "");
  EXPECT_EQ(drawn_by("echo half; kill -9 $$").picture, "");
}

}  // namespace
}  // namespace spillway::drawing_test
