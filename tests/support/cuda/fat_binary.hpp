// Reads the fat binaries that nvcc puts into programs: containers of what it has compiled, for
// several devices, as PTX and as machine code. Their layout is not documented; this is what was
// seen.
#pragma once

#include <string>

namespace spillway::test::cuda {

// Returns the PTX that a device of this architecture, such as 90, would be given. Throws
// std::runtime_error if there is none or if it cannot be read. `wrapper` is what
// __cudaRegisterFatBinary is called with.
std::string ptx_of(void const* wrapper, int architecture);

}  // namespace spillway::test::cuda
