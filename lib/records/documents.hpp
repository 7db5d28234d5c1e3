// Makes documents of records.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "records/chat_template.hpp"
#include "records/document.hpp"
#include "records/record.hpp"

namespace spillway {

struct RecordRules {
  // The field of texts; without one, records with messages, or with a prompt and its completion,
  // are these, and others have `text`.
  std::string text_field = {};
  bool learns_all = false;      // says whether prompts are learned, too
  bool parses_special = false;  // says whether special tokens in messages are such tokens
  std::shared_ptr<ChatTemplate const> chat = {};  // null if none is known
  std::string no_chat = {};                       // why the model's own is not; "": it has none
  std::vector<std::string> special_tokens = {};   // which the tokenizer finds in texts
};

// Returns what a record says by these rules; a record that is a text alone says that. Throws what
// Record and rendered_chat throw.
Document document_of(std::string_view json, RecordOrigin origin, RecordRules const& rules);

}  // namespace spillway
