// Reads the fat binaries that nvcc puts into programs: containers of what it has compiled, for
// several devices, as PTX and as machine code. Their layout is not documented; this is what was
// seen.
#pragma once

#include <string>

namespace spillway::test::cuda {

// `wrapper` is what __cudaRegisterFatBinary is called with, and an architecture is a number such as
// 90.

// Returns whether CUDA has something to run on a device of this architecture: PTX that is not for a
// later one, or machine code for its major version and no later minor one. Throws
// std::runtime_error if the fat binary cannot be read.
bool has_code(void const* wrapper, int architecture);

// Returns the PTX that a device of this architecture would be given. Throws std::runtime_error if
// there is none or if it cannot be read.
std::string ptx_of(void const* wrapper, int architecture);

}  // namespace spillway::test::cuda
