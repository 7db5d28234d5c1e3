// What is said of a gnuplot that does not draw, by one of the test's own.
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "io/gnuplot/gnuplot.hpp"
#include "tests/support/resource_limit.hpp"

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

TEST_F(Drawings, are_made_without_the_settings_of_a_user) {
  EXPECT_EQ(drawn_by("echo $# $*").picture, "1 -d\n");
}

TEST_F(Drawings, that_cannot_begin_say_why) {
  std::ofstream(m_dir / "gnuplot") << "no program";
  ::setenv("PATH", m_dir.c_str(), 1);
  EXPECT_EQ(draw("plot x").trouble, "gnuplot does not start: Permission denied");
  fs::remove(m_dir / "gnuplot");
  EXPECT_EQ(draw("plot x").trouble,
            "gnuplot is not installed (apt: gnuplot-nox, dnf: gnuplot, Spack: gnuplot)");
  test::ResourceLimit const none(RLIMIT_NOFILE, 0);
  EXPECT_EQ(draw("plot x").trouble, "no memory for a chart: Too many open files");
}

// The program blocks those that end it, and ignores two: gnuplot must not.
TEST_F(Drawings, can_be_ended_by_signals_that_the_program_keeps_from_itself) {
  sigset_t blocked, before;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &blocked, &before);
  auto* const on_pipe = std::signal(SIGPIPE, SIG_IGN);
  auto* const on_size = std::signal(SIGXFSZ, SIG_IGN);
  auto const of_child = [&](char const* field) {
    auto const line = drawn_by(std::string("grep ") + field + " /proc/self/status").picture;
    return std::stoull(line.substr(line.find(':') + 1), nullptr, 16);
  };
  EXPECT_EQ(of_child("SigBlk"), 0u);
  constexpr auto ignored = 1ull << (SIGPIPE - 1) | 1ull << (SIGXFSZ - 1);
  EXPECT_EQ(of_child("SigIgn") & ignored, 0u);
  std::signal(SIGPIPE, on_pipe);
  std::signal(SIGXFSZ, on_size);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

}  // namespace
}  // namespace spillway::drawing_test
