// Names the byte when the host touches the device's memory, before the process dies of it.
#pragma once

#include "tests/support/cuda/range.hpp"

namespace spillway::test::cuda {

// Addresses of the device from now on, until they are given back.
void trap(Range const& addresses);
void do_not_trap(Range const& addresses);

}  // namespace spillway::test::cuda
