// A token file's layout as JSON: the head of the file, and what a child process says of an old one.
#pragma once

#include <string>
#include <string_view>

#include "io/file/output.hpp"
#include "io/tokens/token_file.hpp"

namespace spillway {

std::string to_json(TokenLayout const& layout);

// Every number and name is checked by itself. Throws Error(damaged) that begins with `source`.
TokenLayout token_layout_from_json(std::string_view text, std::string const& source);

// The first kTokenHeadBytes of a file.
std::string token_head(TokenLayout const& layout);
// Whether a file begins as one with a head does.
bool has_token_head(std::string_view beginning);
// What may be replaced by another token file.
inline constexpr OutputKind kTokenOutput{"a token file", has_token_head};
// Throws Error(damaged) that begins with `source` for a head that is not as it was written.
TokenLayout read_token_head(std::string_view beginning, std::string const& source);

}  // namespace spillway
