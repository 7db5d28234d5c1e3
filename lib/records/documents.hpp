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

// Returns what a record says by these rules; a record that is a text alone says that. A
// conversation has several documents where the chat template writes earlier answers otherwise than
// the last one: one for each answer, with what stands before it as the model sees it when it gives
// that answer. Throws Error(bad_input) that names file and line if the record cannot be understood.
std::vector<Document> documents_of(std::string_view json, RecordOrigin origin,
                                   RecordRules const& rules);

// Returns the text with which a model is asked to answer the messages of a record, without answers
// at their end, and without the completion of a prompt. Throws what documents_of throws.
Document question_of(Record const& record, RecordRules const& rules);

// Returns whether a record has messages.
bool has_messages(Record const& record);

// Returns what the chat template puts behind an answer, without blanks; "" if that is nothing.
// Throws Error(bad_input) if the template does not take a question and an answer.
std::string end_of_answers(RecordRules const& rules);

}  // namespace spillway
