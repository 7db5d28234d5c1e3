// What fills each tier when the most of it is in use, as lines of text.
#pragma once

#include <string>

#include "plan/data/program.hpp"

namespace spillway {

std::string peaks_text(Program const& program);

}  // namespace spillway
