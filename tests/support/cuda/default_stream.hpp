// Lets the default stream of a device wait for all streams that are not made non-blocking, and
// these for it.
#pragma once

#include "tests/support/cuda/state.hpp"

namespace spillway::test::cuda {

// Returns the default stream of the device that this thread has chosen, after it has been told to
// wait for the work of all blocking streams of this device. These wait for the work of the default
// stream after let_blocking_streams_wait().
int default_stream(State& all);
void let_blocking_streams_wait(State& all, int default_stream);

}  // namespace spillway::test::cuda
