// Compares texts that the program writes with texts in the repository.
#pragma once

#include <string>
#include <string_view>

namespace spillway::test {

// Expects that the n-th block of `seen` is equal to the n-th block of the file `name` in
// tests/goldens, for all n. A line that begins with `mark` begins a block. If SPILLWAY_WRITE_FROZEN
// is set, `seen` is first written to the file, and a person must review what has changed.
void expect_frozen(std::string const& name, std::string const& seen, std::string_view mark = "");

}  // namespace spillway::test
