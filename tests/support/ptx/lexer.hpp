// Cuts the text of a module into tokens.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace spillway::test::ptx {

struct Token {
  enum class Form { word, number, text, mark, end };
  Form form = Form::end;
  std::string_view text;  // a part of the module's text; of a "text" without its quotes
  int line = 0;
};

// A word has letters, digits and _ $ % . : as in `ld.global.L1::no_allocate`, `.reg`, `%r1`.
// Comments are left out. The last token is an end. Throws Refused.
std::vector<Token> tokens(std::string_view text);

}  // namespace spillway::test::ptx
