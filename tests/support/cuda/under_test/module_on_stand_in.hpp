// Opens the module for CUDA devices on the stand-in, which runs its kernels with the interpreter of
// PTX.
#pragma once

#include <string>

#include "run/device_module.hpp"

namespace spillway::test::cuda {

// Returns the backend of the module in the file `path`, whose launches are checked against the
// operands of their ops, and whose Engines are watched. A process may open one module.
FoundBackend open_module_on_stand_in(std::string const& path);

}  // namespace spillway::test::cuda
