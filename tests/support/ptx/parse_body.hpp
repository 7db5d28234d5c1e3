#pragma once

#include "tests/support/ptx/cursor.hpp"
#include "tests/support/ptx/module.hpp"

namespace spillway::test::ptx {

// Reads the body of a kernel from its { to its }, and adds what stands in it.
void parse_body(Cursor& cursor, Kernel& kernel);

}  // namespace spillway::test::ptx
