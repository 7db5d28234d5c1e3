// A Device with memory of its own, made of main memory: its bytes are mapped twice. The engine gets
// addresses that trap when the host touches them; only copies and kernels know the other ones.
#pragma once

#include "device/device.hpp"
#include "kernels/kernel.hpp"

namespace spillway::test {

// Returns the one such device of the process.
Device& trapping_device();

// Binds the kernels of this build to run on the trapping device: a launch turns each operand that
// lies in the device's memory into an address that does not trap. What runs on the host lane is not
// translated.
Kernel trapping_kernel(OpKind kind);

// Says how many operands launches have found in the device's memory so far, which proves that a
// test has really run there.
std::int64_t translated_operands();

}  // namespace spillway::test
