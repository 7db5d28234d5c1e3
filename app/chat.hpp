// A Chat makes prompts of messages, by a model's own chat template.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "records/documents.hpp"
#include "tokenizer/tokenizer.hpp"

namespace spillway {

class Chat {
 public:
  using Json = nlohmann::ordered_json;

  // `rules` must have a chat template. `system`, if it is given, stands before a user's text, and
  // before messages that do not begin with one of their own.
  Chat(RecordRules rules, Tokenizer const& tokenizer, std::optional<std::string> system);

  // Returns the messages with which a conversation begins: that of the system, if there is one.
  Json beginning() const;
  // Returns the ids with which the model is asked to go on with the messages of a record (a JSON
  // object as `tokenize` takes it, without answers at its end). Throws Error(bad_input) that begins
  // with `where`.
  std::vector<std::int32_t> question(std::string const& record, std::string const& where) const;
  // Returns the tokens that end an answer: what the template puts behind one, and the token that
  // ends texts. They are none if the files do not say them.
  std::vector<std::int32_t> const& ends() const { return m_ends; }

 private:
  std::string with_system(std::string const& record, std::string const& where) const;

  RecordRules m_rules;
  Tokenizer const& m_tokenizer;
  std::optional<std::string> m_system;
  std::vector<std::int32_t> m_ends;
};

// Returns a message of a conversation, and the record that has such messages.
nlohmann::ordered_json message_of(std::string const& role, std::string const& text);
std::string record_of(nlohmann::ordered_json const& messages);

}  // namespace spillway
