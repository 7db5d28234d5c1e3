#pragma once

#include "tests/support/ptx/cursor.hpp"
#include "tests/support/ptx/module.hpp"
#include "tests/support/ptx/scopes.hpp"

namespace spillway::test::ptx {

// Reads an operand, which may be a list in braces or a pair with |. Only names of registers are
// looked up, in the scopes. Throws Refused.
Operand parse_operand(Cursor& cursor, Scopes const& scopes);

}  // namespace spillway::test::ptx
