// Counts how many threads have come to each instruction of the kernels that the program registers.
#pragma once

#include "tests/support/ptx/code.hpp"
#include "tests/support/ptx/launch.hpp"
#include "tests/support/ptx/module.hpp"

namespace spillway::test::cuda {

// If the variable SPILLWAY_PTX_COUNTS names a folder, the process leaves a file there when it ends:
// a line for each instruction of each kernel of these modules, also of those that were not
// launched, with the kernel, the instruction's line, its text and its count, between tabs.
void begin_counting(ptx::Module const& module);
void count_executed(ptx::Code const& code, ptx::LaunchCounts const& counts);

}  // namespace spillway::test::cuda
