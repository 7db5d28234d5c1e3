// Cuts the text of a module into tokens.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace spillway::test::ptx {

struct Token {
  enum class Form { word, number, text, mark, end };
  Form form = Form::end;
  std::string_view text;  // is a part of the module's text, which must live as long
  int line = 0;
};

// A word has letters, digits and _ $ % . : as in `ld.global.L1::no_allocate`, `.reg`, `%r1`. Quotes
// are no part of a text. Comments are left out. The last token is an end. Throws Refused.
std::vector<Token> tokens(std::string_view text);

}  // namespace spillway::test::ptx
