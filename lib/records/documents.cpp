#include "records/documents.hpp"

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

Document document_of(std::string_view json, RecordOrigin origin, RecordRules const& rules) {
  Record const record(json, origin);
  if (record.json().is_string()) return {.text = record.json().get<std::string>()};
  if (!rules.text_field.empty()) return {.text = record.text(rules.text_field)};
  if (has_conversation(record)) return rendered_chat(record, conversation_of(record), rules);
  if (record.has("prompt") && record.has("completion")) return completed_prompt(record, rules);
  return {.text = record.text(kTextField)};
}

}  // namespace spillway
