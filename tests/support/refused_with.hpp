// Catches the exception that an action throws and returns its text, so that tests can compare it.
#pragma once

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

#include "base/error.hpp"

namespace spillway::test {

// Returns the text of the Error that `action` throws, or an empty text if it throws nothing.
// Expects that the Error has this status. Exceptions of other types pass through.
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

// Returns the text of the `Thrown` with which `action` says that it was used wrongly, or an empty
// text if it throws nothing. Exceptions of other types pass through.
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
