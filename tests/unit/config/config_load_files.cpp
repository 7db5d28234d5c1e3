// Files that cannot be read or hold no config, and those of saved plans.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <ios>
#include <string>
#include <vector>

#include "config/load.hpp"
#include "config/print.hpp"
#include "tests/unit/config/config_errors.hpp"

namespace spillway::config_load_files_test {
namespace {

using test::error_line, test::Overrides;

class ConfigFile : public testing::Test {
 protected:
  ConfigFile() { std::filesystem::create_directories(m_dir); }
  ~ConfigFile() override { std::filesystem::remove_all(m_dir); }

  std::string write(std::string const& text) const {
    auto const path = m_dir + "/in.yaml";
    std::ofstream(path, std::ios::binary) << text;
    return path;
  }
  static std::string error(std::string const& path) {
    return error_line([&] { load_config(path); });
  }

  std::string m_dir = testing::TempDir() + "spillway_config_load";
};

TEST_F(ConfigFile, that_is_missing_unreadable_or_a_directory_is_refused) {
  EXPECT_EQ(error(m_dir + "/none.yaml"),
            m_dir + "/none.yaml: cannot be read: No such file or directory");
  EXPECT_EQ(error(m_dir), m_dir + ": is a directory, not a file");
  auto const below_a_file = write("model: {}") + "/x";
  EXPECT_EQ(error(below_a_file), below_a_file + ": cannot be read: Not a directory");
}

TEST_F(ConfigFile, that_may_not_be_read_is_refused) {
  auto const path = write("model: {}");
  std::filesystem::permissions(path, std::filesystem::perms::none);
  if (std::ifstream(path)) GTEST_SKIP() << "this user may read everything";
  EXPECT_EQ(error(path), path + ": cannot be read: Permission denied");
}

TEST_F(ConfigFile, that_is_empty_binary_or_huge_is_refused) {
  EXPECT_EQ(error(write("")), m_dir + "/in.yaml:1: the file is empty");
  EXPECT_EQ(error(write("# only a comment\n")), m_dir + "/in.yaml:1: the file is empty");
  EXPECT_EQ(error(write(std::string("\x89HDF\r\n\x1a\n\0\0", 10))),
            m_dir + "/in.yaml:3: is not a text file (a zero byte)");
  EXPECT_EQ(error(write(std::string((4u << 20) + 1, '#'))),
            m_dir + "/in.yaml: is larger than 4 MiB");
}

// Everything of its plan but whether that may change.
TEST_F(ConfigFile, of_a_saved_plan_takes_the_place_of_the_plan_keys) {
  auto const file = write("activations: [keep, recompute]\nupdate: host\nprefetch: 3\n");
  for (auto const* replan : {"false", "true"}) {
    auto const config =
        parse_config("run: {steps: 9}", "in.yaml",
                     Overrides{"plan.file=" + file, std::string("plan.replan=") + replan});
    auto const plan = with_saved_plan(config).plan;
    EXPECT_EQ(texts(plan.activations), (std::vector<std::string>{"keep", "recompute"}));
    EXPECT_EQ(texts(plan.update), std::vector<std::string>{"host"});
    EXPECT_EQ(texts(plan.optimizer), std::vector<std::string>{"auto"});
    EXPECT_EQ(plan.prefetch, 3);
    EXPECT_EQ(plan.replan, std::string(replan) == "true");
    EXPECT_EQ(plan.file, "");
    EXPECT_EQ(with_saved_plan(config).run.steps, 9);
  }
  EXPECT_TRUE(load_plan(file).replan);
}

// It would take the place of what the command line says.
TEST_F(ConfigFile, of_a_saved_plan_does_not_say_whether_the_plan_may_change) {
  auto const file = write("prefetch: 3\nreplan: true\n");
  auto const config =
      parse_config("{}", "in.yaml", Overrides{"plan.file=" + file, "plan.replan=false"});
  auto const why = file + ":2: plan.replan: is for the run that uses the plan; leave it out here";
  EXPECT_EQ(error_line([&] { with_saved_plan(config); }), why);
  EXPECT_EQ(error_line([&] { load_plan(file); }), why);
}

TEST_F(ConfigFile, of_a_saved_plan_is_held_against_the_machine_that_is_meant) {
  auto const config =
      parse_config("model: {layers: 2}", "in.yaml",
                   Overrides{"plan.file=" + write("prefetch: 1\noptimizer: host\n")});
  EXPECT_EQ(error_line([&] { with_saved_plan(config); }),
            m_dir + "/in.yaml:2: plan.optimizer: host needs memory.host: BYTES");
  EXPECT_EQ(error_line([&] { with_saved_plan(config, elsewhere); }), "");
  auto const none = parse_config("{}", "in.yaml");
  EXPECT_EQ(to_yaml(with_saved_plan(none)), to_yaml(none));
}

TEST_F(ConfigFile, names_its_lines_with_windows_line_ends_too) {
  EXPECT_EQ(error(write("model:\r\n  layers: x\r\n")),
            m_dir + "/in.yaml:2: model.layers: expected an integer, got 'x'");
  EXPECT_EQ(load_config(write("model:\r\n  layers: 3\r\n")).model.layers, 3);
}

}  // namespace
}  // namespace spillway::config_load_files_test
