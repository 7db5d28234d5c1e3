#include "records/documents.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "records/conversation.hpp"
#include "records/rendered_chat.hpp"

namespace spillway {
namespace {

constexpr char const* kTextField = "text";

// A prompt is put as `generate` puts it, and its completion ends.
Document completed_prompt(Record const& record, RecordRules const& rules) {
  auto const& prompt = record.text("prompt");
  Document made{.text = prompt + record.text("completion"), .is_begun = true, .is_ended = true};
  if (!rules.learns_all) made.learned = {{prompt.size(), made.text.size()}};
  return made;
}

// Names of fields that other programs have for a prompt, or two parts of it, and its completion.
struct OtherFields {
  std::vector<char const*> prompt;
  char const* completion;
};

std::vector<OtherFields> const kOtherFields = {{{"instruction", "input"}, "output"},
                                               {{"instruction", "context"}, "response"},
                                               {{"instruction"}, "output"},
                                               {{"instruction"}, "response"},
                                               {{"input"}, "output"},
                                               {{"question"}, "answer"},
                                               {{"question"}, "response"},
                                               {{"query"}, "response"},
                                               {{"prompt"}, "response"},
                                               {{"prompt"}, "answer"}};

// Returns what makes lines of a file for jq, and what jq is given behind its filter.
std::pair<std::string, std::string> lines_of(std::string const& path) {
  if (!path.ends_with(".parquet")) return {"", " " + path};
  return {
      fmt::format("python3 -c \"import pandas; pandas.read_parquet('{}').to_json('/dev/stdout', "
                  "orient='records', lines=True)\" | ",
                  path),
      ""};
}

// Refuses a record that has a prompt and its completion by other names.
void refuse_other_fields(Record const& record, RecordOrigin origin) {
  for (auto const& [prompt, completion] : kOtherFields) {
    auto const has = [&](char const* field) { return record.has(field); };
    if (!has(completion) || !std::ranges::all_of(prompt, has)) continue;
    std::string parts;
    for (auto const* field : prompt)
      parts += fmt::format("{}.{}", parts.empty() ? "" : ", ", field);
    bool const is_list = origin.path.ends_with(".json");
    auto const& [before, file] = lines_of(origin.path);
    record.refuse(fmt::format(
        "has no field `text`, but {}; of these jq makes a prompt and its completion, which are "
        "known: {}jq -c '{}{{prompt: ([{}] | map(select((. // \"\") != \"\")) | join(\"\\n\") + "
        "\"\\n\"), completion: .{}}}'{} > prompts.jsonl",
        record.fields(), before, is_list ? ".[] | " : "", parts, completion, file));
  }
}

}  // namespace

std::vector<Document> documents_of(std::string_view json, RecordOrigin origin,
                                   RecordRules const& rules) {
  Record const record(json, origin);
  auto const plain = [](std::string text) {
    return std::vector{Document{.text = std::move(text)}};
  };
  if (record.json().is_string()) return plain(record.json().get<std::string>());
  if (!rules.text_field.empty()) return plain(record.text(rules.text_field));
  if (has_messages(record)) return rendered_chat(record, conversation_of(record), rules);
  if (record.has("prompt") && record.has("completion")) return {completed_prompt(record, rules)};
  if (!record.has(kTextField)) refuse_other_fields(record, origin);
  return plain(record.text(kTextField));
}

Document question_of(Record const& record, RecordRules const& rules) {
  return rendered_question(record, conversation_of(record), rules);
}

}  // namespace spillway
