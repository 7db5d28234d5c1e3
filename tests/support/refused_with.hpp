// The words with which an action is refused, or says that it is a mistake of ours.
#pragma once

#include <gtest/gtest.h>

#include <stdexcept>
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

// Returns what the mistake says, which must be thrown as `Thrown`; empty where there is none.
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
