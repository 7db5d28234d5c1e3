// A Program for a person: an item a line, in order.
#pragma once

#include <string>

#include "plan/data/program.hpp"

namespace spillway {

std::string items_text(Program const& program);

}  // namespace spillway
