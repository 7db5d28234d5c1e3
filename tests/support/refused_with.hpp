// The words with which an action is refused.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "base/error.hpp"

namespace spillway::test {

// Empty where it is not refused; the status must be the given one.
template <class F>
std::string refused_with(F const& action, Status status = Status::bad_input) {
  try {
    action();
  } catch (Error const& error) {
    EXPECT_EQ(error.status(), status) << error.what();
    return error.what();
  }
  return "";
}

}  // namespace spillway::test
