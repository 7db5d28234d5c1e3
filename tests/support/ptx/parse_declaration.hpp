// Reads declarations of variables and parameters, which modules, heads of kernels and bodies share.
#pragma once

#include "tests/support/ptx/cursor.hpp"
#include "tests/support/ptx/module.hpp"

namespace spillway::test::ptx {

// Reads what follows the state space, with the ; that ends it, such as
// `.align 8 .b8 name[2][3] = {1, 2};`. Throws Refused.
Variable parse_variable(Cursor& cursor, Space space);
// Reads a parameter up to a comma or parenthesis. It lies at `offset` or at the next aligned byte.
// Throws Refused.
Parameter parse_parameter(Cursor& cursor, std::size_t offset);

}  // namespace spillway::test::ptx
