// Texts of this program that are committed and compared.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace spillway::test {

// Expects each block of `seen` as the file has it; a block begins at a line that begins with
// `mark`. With SPILLWAY_WRITE_FROZEN=1 writes the file anew, whose difference is to be read.
void expect_frozen(std::filesystem::path const& file, std::string const& seen,
                   std::string_view mark = "");

}  // namespace spillway::test
