// Which instructions matrix products may use on this machine: part of Arithmetic.
#pragma once

#include <string>

namespace spillway {

std::string onednn_isa();  // "oneDNN 2.6.3, isa 0x7ef"

}  // namespace spillway
