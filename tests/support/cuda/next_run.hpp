// Lets a test configure the stand-in of the next DeviceUnderTest.
#pragma once

#include <optional>

#include "tests/support/cuda/settings.hpp"

namespace spillway::test::cuda {

struct NextRun {
  std::optional<Settings> settings;        // if empty, each DeviceUnderTest has a new seed
  std::optional<PlannedFault> fault = {};  // is planned when the DeviceUnderTest is made
  std::optional<std::int64_t> dropped_release = {};  // see drop_release()
};

// Configures the next DeviceUnderTest only.
void ask_of_next_run(NextRun const& next);

}  // namespace spillway::test::cuda
