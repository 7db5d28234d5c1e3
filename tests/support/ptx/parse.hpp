#pragma once

#include <string_view>

#include "tests/support/ptx/module.hpp"

namespace spillway::test::ptx {

// Reads the text of a module. Whatever is not understood is refused with its line (Refused).
// Opcodes are only split here: decode() says which there are.
Module parse(std::string_view text);

}  // namespace spillway::test::ptx
