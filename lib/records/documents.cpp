#include "records/documents.hpp"

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
  return plain(record.text(kTextField));
}

Document question_of(Record const& record, RecordRules const& rules) {
  return rendered_question(record, conversation_of(record), rules);
}

}  // namespace spillway
