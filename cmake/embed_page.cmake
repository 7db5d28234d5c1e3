# Script: writes OUT, a source that has the texts of PARTS: page.html, page.css, and then scripts. A
# string literal may not hold its delimiter, and no file does; 64 KiB is what compilers promise.
function(literal file result)
  file(READ ${file} text)
  string(LENGTH "${text}" length)
  if(text MATCHES "\\)spillway\"" OR length GREATER 65000)
    message(FATAL_ERROR "${file}: is too long for a literal, or holds its delimiter")
  endif()
  set(${result} "R\"spillway(${text})spillway\"" PARENT_SCOPE)
endfunction()

list(POP_FRONT PARTS html css)
literal(${html} html_literal)
literal(${css} css_literal)
set(scripts)
foreach(script IN LISTS PARTS)
  literal(${script} script_literal)
  string(APPEND scripts "\n    ${script_literal},")
endforeach()
file(WRITE ${OUT} "#include \"report/page/page_parts.hpp\"

namespace spillway {
namespace {
constexpr std::string_view kScripts[] = {${scripts}};
}  // namespace
std::string_view const kPageHtml = ${html_literal};
std::string_view const kPageStyle = ${css_literal};
std::span<std::string_view const> const kPageScripts = kScripts;
}  // namespace spillway
")
