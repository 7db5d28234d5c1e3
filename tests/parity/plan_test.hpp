// Tests of `spillway plan` derive their fixtures from PlanTest.
#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "tests/support/run_program.hpp"

namespace spillway::test {

inline std::string const kMachines = SPILLWAY_SOURCE_DIR "/input/machines/";
inline std::string const kRtx3090 = kMachines + "rtx3090.yaml";
inline std::string const kH100 = kMachines + "h100.yaml";

class PlanTest : public testing::Test {
 protected:
  Outcome spillway(std::string const& arguments) {
    return run_command(spillway_command(0) + " " + arguments);
  }
  std::string path(std::string const& name) const { return (m_dir / name).string(); }
  void write(std::string const& name, std::string const& text) const {
    std::ofstream(m_dir / name) << text;
  }

  bool says(std::string const& name, std::string const& words) const {
    std::stringstream text;
    text << std::ifstream(m_dir / name).rdbuf();
    return text.str().find(words) != std::string::npos;
  }

  std::filesystem::path m_dir =
      scratch_directory(testing::UnitTest::GetInstance()->current_test_info()->test_suite_name());
};

}  // namespace spillway::test
