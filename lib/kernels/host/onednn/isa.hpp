// Which instructions matrix products may use on this machine: part of Arithmetic.
#pragma once

#include <string>

#include "base/dtype.hpp"

namespace spillway::host {

std::string onednn_isa();  // "oneDNN 2.6.3, isa 0x7ef"

// Whether it has products of this type here: of bf16 it has none without AVX-512.
bool onednn_multiplies(DType dtype);

}  // namespace spillway::host
