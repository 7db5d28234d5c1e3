// Compares texts that the program writes with texts that are committed.
#pragma once

#include <string>
#include <string_view>

namespace spillway::test {

// Expects that each block of `seen` is equal to that block of the file `name` in tests/goldens. A
// line that begins with `mark` begins a block. If SPILLWAY_WRITE_FROZEN is set, the file is written
// anew first, and a person must read its difference.
void expect_frozen(std::string const& name, std::string const& seen, std::string_view mark = "");

}  // namespace spillway::test
