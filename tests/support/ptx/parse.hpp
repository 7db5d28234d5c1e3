#pragma once

#include <string_view>

#include "tests/support/ptx/module.hpp"

namespace spillway::test::ptx {

// Reads the text of a module. Throws Refused, with the line, for whatever it does not understand.
// Opcodes are only split here: decode() says which there are. The text may end before the Module.
Module parse(std::string_view text);

}  // namespace spillway::test::ptx
