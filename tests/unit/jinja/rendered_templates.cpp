// Templates are rendered as Jinja does: these texts are what its library made of them.
#include <gtest/gtest.h>

#include <string>

#include "jinja/template.hpp"

namespace spillway::rendered_templates_test {
namespace {

using Json = nlohmann::ordered_json;

Json const kMessages = Json::parse(R"({"messages": [
  {"role": "system", "content": " Be kind. "}, {"role": "user", "content": "Hi\n"},
  {"role": "assistant", "content": "Hello",
   "calls": [{"name": "f", "args": {"b": 1, "a": [1.0, null]}}]}],
  "bos_token": "<s>", "add_generation_prompt": true})");

std::string rendered(std::string const& source, Json const& variables = kMessages) {
  return jinja::Template(source, "template").render(variables).text;
}

TEST(Jinja, white_space_around_tags_goes_as_blocks_are_trimmed) {
  EXPECT_EQ(rendered("a\n  {% if true %}\n b \n{% endif %}\n c\n\n"), "a\n b \n c\n");
  EXPECT_EQ(rendered("{%- if true -%}  x  {%- endif -%}  y"), "xy");
  EXPECT_EQ(rendered("a  {%+ if true +%}\n b{% endif %}"), "a  \n b");
  EXPECT_EQ(rendered("  {{ 1 }}\n{{- 2 -}}\n 3\r\n4{# c #}\n"), "  123\n4");
}

TEST(Jinja, loops_scopes_and_macros_are_those_of_jinja) {
  EXPECT_EQ(
      rendered("{% set x = 0 %}{% for i in [1, 2] %}{% set x = x + i %}{{ x }}{% endfor %}{{ x }}"),
      "120");
  EXPECT_EQ(rendered("{% set n = namespace(x=0) %}{% for i in range(4) %}{% set n.x = n.x + i %}"
                     "{% endfor %}{{ n.x }}"),
            "6");
  EXPECT_EQ(rendered("{% for m in messages if m.role != 'user' %}{{ loop.index }}{{ loop.last }}"
                     "{{ m.role[0] }} {% else %}none{% endfor %}"),
            "1Falses 2Truea ");
  EXPECT_EQ(rendered("{% for i in [1, 2, 3] %}{% if i == 2 %}{% continue %}{% endif %}{{ i }}"
                     "{% if i == 3 %}{% break %}{% endif %}{% endfor %}"),
            "13");
  EXPECT_EQ(rendered("{% macro m(a, b=2) %}[{{ a }}{{ b }}]{% endmacro %}{{ m(1) }}{{ m(b=3) }}"),
            "[12][3]");
  EXPECT_EQ(rendered("{% for k, v in {'a': 1}.items() %}{{ k }}{{ v }}{% endfor %}"), "a1");
}

TEST(Jinja, values_are_those_of_python) {
  EXPECT_EQ(rendered("{{ -7 // 2 }} {{ -7 % 3 }} {{ 7 / 2 }} {{ 3.0 }} {{ true }} {{ none }}"),
            "-4 2 3.5 3.0 True None");
  EXPECT_EQ(rendered("{{ 'äöü'[1:] }} {{ 'äöü' | length }} {{ 'abc'[::-1] }} {{ [1, 2][-1] }}"),
            "öü 3 cba 2");
  EXPECT_EQ(rendered("{{ messages[2].calls[0].args | tojson }}"), R"({"b": 1, "a": [1.0, null]})");
  EXPECT_EQ(rendered("{{ {'é': ['\\n']} | tojson(indent=1) }}"), "{\n \"é\": [\n  \"\\n\"\n ]\n}");
  EXPECT_EQ(
      rendered("{{ messages | selectattr('role', 'equalto', 'user') | map(attribute='content')"
               " | first | trim }}|{{ '\\u00a0a\\u3000'.strip() }}"),
      "Hi|a");
  EXPECT_EQ(rendered("{{ 'a</t>b'.split('</t>')[-1] }}{{ x is defined }}{{ x }}{{ 1 < 2 < 3 }}"),
            "bFalseTrue");
}

TEST(Jinja, what_generation_prints_is_known) {
  auto const made = jinja::Template("a{% generation %}b{{ 1 }}{% endgeneration %}c", "template");
  EXPECT_TRUE(made.has_generation());
  auto const [text, generated] = made.render(kMessages);
  EXPECT_EQ(text, "ab1c");
  ASSERT_EQ(generated.size(), 1u);
  EXPECT_EQ(generated[0].begin, 1u);
  EXPECT_EQ(generated[0].end, 3u);
}

}  // namespace
}  // namespace spillway::rendered_templates_test
