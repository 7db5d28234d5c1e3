#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "state/kept_configs.hpp"
#include "tests/support/names_in.hpp"

namespace spillway::train_kept_configs_test {
namespace {

namespace fs = std::filesystem;
using Names = std::vector<std::string>;

class KeptConfigs : public testing::Test {
 protected:
  KeptConfigs() {
    fs::remove_all(m_dir);
    fs::create_directories(m_dir);
  }
  ~KeptConfigs() override { fs::remove_all(m_dir); }

  void write(std::string const& name) const { std::ofstream(m_dir / name) << name; }
  std::string read(std::string const& name) const {
    std::ostringstream text;
    text << std::ifstream(m_dir / name).rdbuf();
    return text.str();
  }
  Names names() const { return test::names_in(m_dir); }

  fs::path const m_dir = fs::path(testing::TempDir()) / "spillway-kept-configs";
};

TEST(KeptConfigNames, are_those_of_a_step_alone) {
  EXPECT_EQ(step_of_config("config-0.yaml"), 0);
  EXPECT_EQ(step_of_config("config-120.yaml"), 120);
  for (auto const* name : {"config.yaml", "config-.yaml", "config-1", "config-1.yaml.partial",
                           "config-a.yaml", "config-1a.yaml", "config--1.yaml", "xconfig-1.yaml"})
    EXPECT_EQ(step_of_config(name), std::nullopt) << name;
}

TEST_F(KeptConfigs, are_what_the_run_began_with_and_what_each_change_made_of_it) {
  keep_configs(m_dir, 40, std::nullopt);
  EXPECT_EQ(names(), Names{});
  keep_configs(m_dir, 40, ChangedConfig{"first", "second"});
  keep_configs(m_dir, 60, ChangedConfig{"second", "third"});
  EXPECT_EQ(names(), (Names{"config-0.yaml", "config-40.yaml", "config-60.yaml"}));
  EXPECT_EQ(read("config-0.yaml"), "first");
  EXPECT_EQ(read("config-40.yaml"), "second");
  EXPECT_EQ(read("config-60.yaml"), "third");
}

TEST_F(KeptConfigs, of_steps_that_are_done_anew_are_gone) {
  for (auto const* name : {"config-0.yaml", "config-40.yaml", "config-60.yaml", "config-mine.yaml"})
    write(name);
  keep_configs(m_dir, 40, std::nullopt);
  EXPECT_EQ(names(), (Names{"config-0.yaml", "config-mine.yaml"}));
  keep_configs(m_dir, 0, ChangedConfig{"first", "second"});  // no step was done
  EXPECT_EQ(names(), (Names{"config-0.yaml", "config-mine.yaml"}));
  EXPECT_EQ(read("config-0.yaml"), "second");
}

TEST_F(KeptConfigs, go_where_the_checkpoints_go_or_with_none) {
  auto const earlier = m_dir / "earlier-1";
  fs::create_directory(earlier);
  for (auto const* name : {"config-0.yaml", "config-40.yaml", "config.yaml", "config-mine.yaml"})
    write(name);
  set_aside_configs(m_dir, earlier);
  EXPECT_EQ(test::names_in(earlier), (Names{"config-0.yaml", "config-40.yaml"}));
  EXPECT_EQ(names(), (Names{"config-mine.yaml", "config.yaml", "earlier-1"}));
  write("config-7.yaml");
  set_aside_configs(m_dir, std::nullopt);
  EXPECT_EQ(names(), (Names{"config-mine.yaml", "config.yaml", "earlier-1"}));
}

}  // namespace
}  // namespace spillway::train_kept_configs_test
