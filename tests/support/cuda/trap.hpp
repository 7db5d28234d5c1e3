// If the host touches device memory, a trap names the byte on stderr before the process dies.
#pragma once

#include "tests/support/cuda/address_range.hpp"

namespace spillway::test::cuda {

// Says that these are addresses of the device, until do_not_trap() is called with the same range.
void trap(AddressRange const& addresses);
void do_not_trap(AddressRange const& addresses);

}  // namespace spillway::test::cuda
