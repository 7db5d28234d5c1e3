// Says which instructions oneDNN may use for products on this machine, as a part of Arithmetic.
#pragma once

#include <string>

#include "base/dtype.hpp"

namespace spillway::host {

std::string onednn_isa();  // such as "oneDNN 2.6.3, isa 0x7ef"

// Returns whether oneDNN has products of this type on this machine. It has none of bf16 without
// AVX-512.
bool onednn_multiplies(DType dtype);

}  // namespace spillway::host
