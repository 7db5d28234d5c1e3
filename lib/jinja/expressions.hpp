// Parses expressions, with the ranks of operators that Jinja 3 gives them; only for this folder's
// sources.
#pragma once

#include "jinja/token_stream.hpp"
#include "jinja/tree.hpp"

namespace spillway::jinja {

// Parses an expression. Without `with_choice` it ends before an `if`, as in the head of a loop.
ExpressionPtr parse_expression(TokenStream& tokens, bool with_choice = true);
// Parses an expression, or several with commas between them, which make a list.
ExpressionPtr parse_tuple(TokenStream& tokens, bool with_choice = true);

}  // namespace spillway::jinja
