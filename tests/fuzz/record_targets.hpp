// Chat templates, and records of data sets.
#pragma once

#include <vector>

#include "targets.hpp"

namespace spillway::test {

std::vector<FuzzTarget> record_targets();

}  // namespace spillway::test
