// A Conversation is what a record has of messages; only for this folder's sources.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>

#include "records/record.hpp"

namespace spillway {

struct Conversation {
  nlohmann::ordered_json messages;  // each with `role` and what else belongs to it
  std::size_t given = 0;            // how many of the first ones are a prompt, and not learned
  // What templates take beside them.
  nlohmann::ordered_json more = nlohmann::ordered_json::object();
};

// Reads `messages`, `conversations`, or `prompt` and `completion` that are lists of messages, and
// `tools` and `chat_template_kwargs`. Throws Error(bad_input) that names file, line and message.
Conversation conversation_of(Record const& record);

// Returns whether a message is an answer of the model.
bool is_answer(nlohmann::ordered_json const& message);

}  // namespace spillway
