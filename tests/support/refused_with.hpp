// Returns the text of the exception that an action throws, so that tests can compare it.
#pragma once

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

#include "base/error.hpp"

namespace spillway::test {

// Returns the text of the Error with which `action` is refused, or an empty one if it is not
// refused. Expects that the Error has this status.
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

// Returns the text of the `Thrown` that tells of a caller's mistake, or an empty one if nothing is
// thrown.
template <class Thrown = std::logic_error, class F>
std::string mistake(F const& action) {
  try {
    action();
  } catch (Thrown const& error) {
    return error.what();
  }
  return "";
}

}  // namespace spillway::test
