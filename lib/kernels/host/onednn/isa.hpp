// Says which version of oneDNN computes products and which instructions it may use on this machine.
// The text becomes a part of Arithmetic.isa.
#pragma once

#include <string>

#include "base/dtype.hpp"

namespace spillway::host {

std::string onednn_isa();  // returns a text such as "oneDNN 2.6.3, isa 0x7ef"

// Returns whether oneDNN computes products of this type on this machine. Without AVX-512 it
// computes none of bf16.
bool onednn_multiplies(DType dtype);

}  // namespace spillway::host
