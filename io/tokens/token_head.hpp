// Turns a token file's layout into JSON and back. A file's head is this JSON, sealed. If a file has
// no head, a child process reads its layout and returns it as this JSON.
#pragma once

#include <string>
#include <string_view>

#include "io/file/output.hpp"
#include "io/tokens/token_file.hpp"

namespace spillway {

std::string to_json(TokenLayout const& layout);

// Parses a layout. Checks every number and name, but not whether they fit together. Throws
// Error(damaged) that begins with `source` if one is missing or impossible.
TokenLayout token_layout_from_json(std::string_view text, std::string const& source);

// Returns the first kTokenHeadBytes bytes of a file with this layout.
std::string token_head(TokenLayout const& layout);
// Returns whether a file with this beginning is a token file with a head.
bool has_token_head(std::string_view beginning);
// Commands that write a token file pass this kind to Output, so that they may replace an older
// token file.
inline constexpr OutputKind kTokenOutput{"a token file", has_token_head};
// `beginning` has the first kTokenHeadBytes bytes of a file with a head. Throws Error(damaged) that
// begins with `source` if the head is not as it was written.
TokenLayout read_token_head(std::string_view beginning, std::string const& source);

}  // namespace spillway
