// Turns a token file's layout into JSON and back. The JSON is the head of the file, and is what a
// child process returns about a file without a head.
#pragma once

#include <string>
#include <string_view>

#include "io/file/output.hpp"
#include "io/tokens/token_file.hpp"

namespace spillway {

std::string to_json(TokenLayout const& layout);

// Checks every number and name by itself. Throws Error(damaged) that begins with `source`.
TokenLayout token_layout_from_json(std::string_view text, std::string const& source);

// Returns the first kTokenHeadBytes of a file.
std::string token_head(TokenLayout const& layout);
// Returns whether a file begins as one with a head does.
bool has_token_head(std::string_view beginning);
// A command that writes a token file may replace another one.
inline constexpr OutputKind kTokenOutput{"a token file", has_token_head};
// Throws Error(damaged) that begins with `source` if the head is not as it was written.
TokenLayout read_token_head(std::string_view beginning, std::string const& source);

}  // namespace spillway
