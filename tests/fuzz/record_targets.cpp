#include "record_targets.hpp"

#include <memory>
#include <stdexcept>

#include "records/documents.hpp"

namespace spillway::test {
namespace {

using Json = nlohmann::ordered_json;

constexpr char const* kTemplate =
    "{%- macro turn(m, end='<|end|>') -%}<|{{ m.role }}|>\n{{ m['content'] | trim }}{{ end }}\n"
    "{%- endmacro -%}\n"
    "{% set ns = namespace(n=0) %}\n"
    "{% for m in messages[::-1] if m.role != 'tool' %}\n"
    "  {%- set ns.n = ns.n + loop.index0 // 2 %}\n"
    "  {%- if loop.first and not tools is none %}{{ tools | tojson(indent=2) }}{% endif %}\n"
    "  {%- if m.role == 'assistant' %}{% generation %}{{ m.content.split('a', 1)[-1] }}"
    "{% endgeneration %}{% continue %}\n"
    "  {%- elif 'x' in m.content or ns.n > 3 %}{{ raise_exception('no ' ~ ns.n) }}{% endif %}\n"
    "  {{- turn(m) if m is mapping else '' }}\n"
    "{% else %}{# none #}{% endfor %}{{ -1.5 | abs }}{{ {'k': [1, none]}.items() | list | tojson "
    "}}";

Json messages() {
  return Json::parse(
      R"([{"role": "user", "content": "Hi\n"}, {"role": "assistant", "content": "a\u00e9b"},
                         {"role": "tool", "content": ""}])");
}

FuzzTarget jinja_target() {
  return {"jinja", {kTemplate}, [](std::string const& bytes) {
            auto const made = jinja::Template(bytes, "template")
                                  .render({{"messages", messages()}, {"tools", nullptr}});
            for (auto const& [begin, end] : made.generated)
              if (begin > end || end > made.text.size())
                throw std::logic_error("what was generated lies outside of the text");
          }};
}

// Ranges and barriers of a document that is believed lie in it, in ascending order.
void require_sound(Document const& made) {
  std::size_t at = 0;
  for (auto const& [begin, end] : made.learned.value_or(std::vector<TextRange>{})) {
    if (begin < at || end < begin || end > made.text.size())
      throw std::logic_error("a range lies outside of the text");
    at = end;
  }
  at = 0;
  for (auto const place : made.barriers) {
    if (place < at || place > made.text.size())
      throw std::logic_error("a barrier lies outside of the text");
    at = place;
  }
}

FuzzTarget record_target() {
  RecordRules rules;
  rules.special_tokens = {"<|end|>", "<|user|>"};
  rules.chat = std::make_shared<ChatTemplate const>(
      jinja::Template("{% for m in messages %}<|{{ m.role }}|>{{ m.content }}<|end|>\n{% endfor %}"
                      "{% if add_generation_prompt %}<|assistant|>{% endif %}",
                      "template"),
      Json::object());
  std::string const user = R"({"role": "user", "content": "a<|end|>"})";
  std::string const answer = R"({"role": "assistant", "content": "\ud83d\ude00"})";
  std::vector<std::string> const sound = {
      R"({"messages": [)" + user + "," + answer + "]}",
      R"({"prompt": [)" + user + R"(], "completion": [)" + answer + "]}",
      R"({"conversations": [{"from": "human", "value": "a"}, )"
      R"({"from": "gpt", "value": "<|end|>"}]})",
      R"({"prompt": "a", "completion": "b", "n": [1e5, null, {"x": true}]})",
      R"({"text": "abc", "text": "d\n\u00e9"})"};
  return {"records", sound, [rules](std::string const& bytes) {
            for (auto const& one : documents_of(bytes, {"records.jsonl", 1}, rules))
              require_sound(one);
          }};
}

}  // namespace

std::vector<FuzzTarget> record_targets() {
  return {jinja_target(), record_target()};
}

}  // namespace spillway::test
