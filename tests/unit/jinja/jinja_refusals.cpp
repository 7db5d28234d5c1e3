// What a template has that is not known is refused with its line, and a stranger's template comes
// to an end.
#include <gtest/gtest.h>

#include <string>

#include "base/error.hpp"
#include "jinja/template.hpp"

namespace spillway::jinja_refusals_test {
namespace {

std::string refusal(std::string const& source) {
  try {
    jinja::Template(source, "t.jinja").render({{"messages", {{{"role", "user"}}}}});
  } catch (Error const& error) {
    EXPECT_EQ(error.status(), Status::bad_input);
    return error.what();
  }
  return "no error";
}

TEST(JinjaRefusals, name_what_is_not_known_and_its_line) {
  EXPECT_EQ(refusal("a\n{% include 'x' %}"),
            "t.jinja:2: `{% include %}` is not known here before `x`");
  EXPECT_EQ(refusal("\n\n{{ messages | shuffle }}"),
            "t.jinja:3: the filter `shuffle` is not known here");
  EXPECT_EQ(refusal("{{ messages is strange }}"),
            "t.jinja:1: the test `strange` is not known here");
  EXPECT_EQ(refusal("{{ 'a'.zfill(3) }}"), "t.jinja:1: zfill has too many arguments");
  EXPECT_EQ(refusal("{{ messages }}"),
            "t.jinja:1: a list is printed as Python writes it, which is not known here");
  EXPECT_EQ(refusal("{{ 'é' | upper }}"),
            "t.jinja:1: `upper` of a text with letters beyond ASCII is not known here");
  EXPECT_EQ(refusal("{{ raise_exception('roles must alternate') }}"),
            "t.jinja:1: the template refuses it: roles must alternate");
  EXPECT_EQ(refusal("{{ x.y }}"), "t.jinja:1: `y` is asked of what is undefined");
}

TEST(JinjaRefusals, are_for_numbers_that_python_would_write_otherwise) {
  EXPECT_THROW(jinja::Template("", "t.jinja").render({{"big", 1e300}}), Error);
  EXPECT_THROW(jinja::Template("", "t.jinja").render({{"big", 18446744073709551615u}}), Error);
}

TEST(JinjaRefusals, are_for_what_is_no_template) {
  for (auto const* source : {"{{ x", "{{ 'a }}", "{% if true %}", "{% endif %}", "{{ ) }}", "{# a",
                             "{{ 1 2 }}", "{% for in x %}{% endfor %}", "{{ '\\q' }}", "{{ $ }}"})
    EXPECT_TRUE(refusal(source).starts_with("t.jinja:1: ")) << source << ": " << refusal(source);
}

TEST(JinjaRefusals, end_what_does_not_end) {
  std::string const loop = "{% for i in range(99999) %}";
  EXPECT_EQ(refusal(loop + loop + "{% endfor %}{% endfor %}"),
            "t.jinja:1: the template does not come to an end");
  EXPECT_EQ(refusal("{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}"),
            "t.jinja:1: macros call each other too deeply");
  EXPECT_TRUE(refusal("{{ " + std::string(5000, '(') + "1" + std::string(5000, ')') + " }}")
                  .starts_with("t.jinja:1: is nested too deeply"));
  EXPECT_EQ(refusal("{{ range(10000000) }}"),
            "t.jinja:1: range has too many numbers, or none that can be counted");
}

}  // namespace
}  // namespace spillway::jinja_refusals_test
