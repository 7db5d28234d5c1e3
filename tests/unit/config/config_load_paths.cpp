// The path that a run has by its input file, and the variables and the tilde of paths.
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "config/load.hpp"
#include "tests/unit/config/config_errors.hpp"

namespace spillway::config_load_paths_test {
namespace {

using test::file_error, test::override_error, test::Overrides;

TEST(ConfigLoad, a_run_is_named_by_its_input_file) {
  auto const file = std::filesystem::path(::testing::TempDir()) / "small.gpt.yaml";
  std::ofstream(file) << "model: {heads: 4, hidden: 64}\n";
  EXPECT_EQ(load_config(file).run.dir, "runs/small.gpt");
  EXPECT_EQ(load_config(file, Overrides{"run.dir=here"}).run.dir, "here");
  EXPECT_EQ(parse_config("run: {dir: auto}\n", "in.yaml").run.dir, "");
  EXPECT_EQ(override_error("model.import=hf"),
            "command line: model.import: is for input files; a configuration that was written has "
            "the model itself");
}

// Loads what stands in a pipe by a name of the directory of descriptors.
Config config_of_pipe(std::string const& descriptors, std::string const& text) {
  std::array<int, 2> ends{};
  EXPECT_EQ(::pipe(ends.data()), 0);
  EXPECT_EQ(::write(ends[1], text.data(), text.size()), std::ssize(text));
  ::close(ends[1]);
  auto config = load_config(descriptors + std::to_string(ends[0]));
  ::close(ends[0]);
  return config;
}

// The shell's <(...) has a name that says nothing.
TEST(ConfigLoad, a_run_whose_input_has_no_name_is_named_so) {
  auto const config = config_of_pipe("/proc/self/fd/", "run: {steps: 7}");
  EXPECT_EQ(config.run.steps, 7);
  EXPECT_EQ(config.run.dir, "runs/stdin");
}

TEST(ConfigLoad, a_run_whose_input_is_a_descriptor_is_named_so) {
  if (!std::filesystem::exists("/dev/fd")) GTEST_SKIP() << "no /dev/fd here";
  auto const config = config_of_pipe("/dev/fd/", "run: {steps: 8}");
  EXPECT_EQ(config.run.steps, 8);
  EXPECT_EQ(config.run.dir, "runs/stdin");
}

TEST(ConfigLoad, variables_in_paths_are_expanded) {
  setenv("SPILLWAY_TEST_DIR", "/some/where", 1);
  unsetenv("SPILLWAY_TEST_NONE");
  auto const c = parse_config(
      "run: {dir: $SPILLWAY_TEST_DIR/x, init: 'a$$b'}\ndata: {train: '${SPILLWAY_TEST_DIR}y'}\n",
      "in.yaml");
  EXPECT_EQ(c.run.dir, "/some/where/x");
  EXPECT_EQ(c.run.init, "a$b");
  EXPECT_EQ(c.data.train[0], "/some/wherey");
  EXPECT_EQ(file_error("run:\n  dir: $SPILLWAY_TEST_NONE/x\n"),
            "in.yaml:2: run.dir: the environment variable $SPILLWAY_TEST_NONE is not set");
  EXPECT_EQ(file_error("run:\n  dir: a$/x\n"),
            "in.yaml:2: run.dir: '$' without a variable's name in 'a$/x'");
  EXPECT_EQ(file_error("run:\n  dir: ${A/x\n"),
            "in.yaml:2: run.dir: '$' without a variable's name in '${A/x'");
}

TEST(ConfigLoad, names_of_variables_end_before_what_no_name_has) {
  setenv("spillway_Test_09z", "there", 1);
  auto const given = [](std::string const& text) {
    return parse_config("model: {}", "in.yaml", Overrides{"run.dir=" + text}).run.dir;
  };
  for (std::string const behind : {"/x", "-x", ".x", "{x", " x", "\xc3\xa4", "$$x", ""}) {
    auto const expected = behind == "$$x" ? "$x" : behind;
    EXPECT_EQ(given("a/$spillway_Test_09z" + behind), "a/there" + expected);
    EXPECT_EQ(given("${spillway_Test_09z}" + behind), "there" + expected);
  }
  EXPECT_EQ(given("$spillway_Test_09z$spillway_Test_09z"), "therethere");
  EXPECT_EQ(given("${spillway_Test_09z}9z}"), "there9z}");
  for (std::string const text : {"a$", "${}", "${spillway_Test_09z", "${spillway_Test-09z}"})
    EXPECT_EQ(override_error("run.dir=" + text),
              "command line: run.dir: '$' without a variable's name in '" + text + "'");
}

TEST(ConfigLoad, a_tilde_is_the_home_directory_and_no_name) {
  setenv("HOME", "/of/mine", 1);
  auto const given = [](std::string const& text) {
    return parse_config("model: {}", "in.yaml", Overrides{"run.dir=" + text}).run.dir;
  };
  EXPECT_EQ(given("~/runs"), "/of/mine/runs");
  EXPECT_EQ(given("~"), "/of/mine");
  EXPECT_EQ(given("a/~"), "a/~");
  EXPECT_EQ(given("./~x"), "./~x");
  EXPECT_EQ(parse_config("data: {train: ~/t.h5}", "in.yaml").data.train[0], "/of/mine/t.h5");
  EXPECT_EQ(override_error("run.dir=~you/runs").find("command line: run.dir: '~you/runs': whose"),
            0u);
  unsetenv("HOME");
  EXPECT_EQ(override_error("run.dir=~/runs"),
            "command line: run.dir: the environment variable $HOME is not set");
}

}  // namespace
}  // namespace spillway::config_load_paths_test
