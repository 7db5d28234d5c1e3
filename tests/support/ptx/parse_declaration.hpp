// Reads declarations of variables and parameters, which modules, heads of kernels and bodies share.
#pragma once

#include "tests/support/ptx/cursor.hpp"
#include "tests/support/ptx/module.hpp"

namespace spillway::test::ptx {

std::size_t aligned_up(std::size_t offset, std::size_t alignment);

// What stands behind the state space, up to the ; that ends it, which is passed:
// `.align 8 .b8 name[2][3] = {1, 2};`
Variable parse_variable(Cursor& cursor, Space space);
// The same without initial values, up to a comma or parenthesis.
Parameter parse_parameter(Cursor& cursor, std::size_t offset);

}  // namespace spillway::test::ptx
