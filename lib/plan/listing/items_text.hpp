// Writes a Program for people to read, with a line for each item.
#pragma once

#include <string>

#include "plan/data/program.hpp"

namespace spillway {

std::string items_text(Program const& program);

}  // namespace spillway
