// Texts of this program that are committed and compared.
#pragma once

#include <string>
#include <string_view>

namespace spillway::test {

// Expects each block of `seen` as the file `name` in tests/goldens has it; a block begins at a line
// that begins with `mark`. With SPILLWAY_WRITE_FROZEN=1 writes the file anew, whose difference is
// to be read.
void expect_frozen(std::string const& name, std::string const& seen, std::string_view mark = "");

}  // namespace spillway::test
