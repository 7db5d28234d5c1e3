#pragma once

#include "tests/support/ptx/cursor.hpp"
#include "tests/support/ptx/module.hpp"

namespace spillway::test::ptx {

// Reads the body of a kernel from its { to its }, and adds its contents to the Kernel. Throws
// Refused.
void parse_body(Cursor& cursor, Kernel& kernel);

}  // namespace spillway::test::ptx
