// What the tests of conversations have in common: a template, and a document as a text in which
// what is learned stands between [ and ].
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "records/documents.hpp"

namespace spillway::test {

inline constexpr char const* kChatml =
    "{% for m in messages %}{{ '<|im_start|>' + m.role + '\\n' + m.content + '<|im_end|>\\n' }}"
    "{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}";

inline RecordRules rules_with(std::string const& source) {
  RecordRules rules;
  rules.chat = std::make_shared<ChatTemplate const>(jinja::Template(source, "chat.jinja"),
                                                    nlohmann::ordered_json{{"eos_token", "</s>"}});
  rules.special_tokens = {"<|im_start|>", "<|im_end|>", "</s>"};
  return rules;
}

inline std::vector<Document> documents(std::string const& json, RecordRules const& rules) {
  return documents_of(json, {"a.jsonl", 7}, rules);
}
inline Document document(std::string const& json, RecordRules const& rules) {
  auto const made = documents(json, rules);
  EXPECT_EQ(made.size(), 1u);
  return made.front();
}

// Barriers are shown as !.
inline std::string shown(Document const& made) {
  auto text = made.text;
  std::vector<std::pair<std::size_t, std::string>> signs;
  for (auto const place : made.barriers) signs.emplace_back(place, "!");
  if (made.learned)
    for (auto const& [begin, end] : *made.learned) {
      signs.emplace_back(begin, "[");
      signs.emplace_back(end, "]");
    }
  std::ranges::stable_sort(signs, std::greater<>(), &std::pair<std::size_t, std::string>::first);
  for (auto const& [place, sign] : signs) text.insert(place, sign);
  return text;
}

inline std::string shown(std::string const& json, RecordRules const& rules) {
  return shown(document(json, rules));
}

inline std::string refusal(std::string const& json, RecordRules const& rules,
                           std::string const& path = "a.jsonl") {
  try {
    documents_of(json, {path, 7}, rules);
  } catch (Error const& error) {
    EXPECT_EQ(error.status(), Status::bad_input);
    return error.what();
  }
  return "no error";
}

}  // namespace spillway::test
