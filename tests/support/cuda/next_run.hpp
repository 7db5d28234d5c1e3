// What a test asks of the next DeviceUnderTest that is a stand-in.
#pragma once

#include <optional>

#include "tests/support/cuda/settings.hpp"

namespace spillway::test::cuda {

struct NextRun {
  std::optional<Settings> settings;                  // empty: another seed each time
  std::optional<PlannedFault> fault = {};            // of a call that is made from then on
  std::optional<std::int64_t> dropped_release = {};  // see drop_release()
};

// Holds for one DeviceUnderTest.
void ask_of_next_run(NextRun const& next);

}  // namespace spillway::test::cuda
