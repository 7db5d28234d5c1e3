#pragma once

#include "tests/support/ptx/cursor.hpp"
#include "tests/support/ptx/module.hpp"
#include "tests/support/ptx/scopes.hpp"

namespace spillway::test::ptx {

// Reads an operand, in braces or with a second one behind |, too. Names of registers are those of
// the scopes; other names are not looked up.
Operand parse_operand(Cursor& cursor, Scopes const& scopes);

}  // namespace spillway::test::ptx
