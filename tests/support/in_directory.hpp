// An InDirectory is a test that has an empty directory for itself while it runs.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "base/error.hpp"

namespace spillway::test {

class InDirectory : public testing::Test {
 protected:
  InDirectory() {
    std::filesystem::remove_all(m_dir);
    std::filesystem::create_directories(m_dir);
  }
  ~InDirectory() override { std::filesystem::remove_all(m_dir); }

  // Returns the Error that `action` throws, or one with Status::done if it throws none.
  template <class F>
  static Error error_of(F const& action) {
    try {
      action();
    } catch (Error const& error) {
      return error;
    }
    return {Status::done, "no error"};
  }

  std::filesystem::path const m_dir = [] {
    auto const* const test = testing::UnitTest::GetInstance()->current_test_info();
    return std::filesystem::path(testing::TempDir()) /
           (std::string(test->test_suite_name()) + "." + test->name());
  }();
};

}  // namespace spillway::test
