// Says which devices have a use for what nvcc has compiled.
#pragma once

#include <string_view>

namespace spillway {

// Returns whether a device of this compute capability, such as 86, runs what is compiled for
// `architectures`, such as "80, 90-real": words of CMake's CUDA_ARCHITECTURES. Returns true if one
// of them has no number, such as "native", because nobody can tell then.
bool has_code_for(std::string_view architectures, int capability);

}  // namespace spillway
