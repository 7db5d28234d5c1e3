// Splits a template into texts and the tokens of its tags, by the rules of Jinja 3 with trim_blocks
// and lstrip_blocks, as chat templates are read; only for this folder's sources.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace spillway::jinja {

enum class TokenKind : std::uint8_t {
  text,          // what stands between tags
  output_begin,  // {{
  output_end,    // }}
  block_begin,   // {%
  block_end,     // %}
  name,
  string,  // its text has no quotes and escapes any more
  integer,
  real,
  symbol,  // such as == or (
  end
};

struct Token {
  TokenKind kind;
  std::string text;
  std::int64_t line;
};

// Throws Error(bad_input) that begins with `path` and a line if a tag is not understood. The last
// token is `end`.
std::vector<Token> tokens_in(std::string_view source, std::string const& path);

}  // namespace spillway::jinja
