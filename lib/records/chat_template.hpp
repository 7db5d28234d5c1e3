// A ChatTemplate makes one text of the messages of a conversation, as the model has learnt them.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/file_folders.hpp"
#include "jinja/template.hpp"

namespace spillway {

class ChatTemplate {
 public:
  // `tokens` are special tokens by their names, such as bos_token, which templates use.
  ChatTemplate(jinja::Template made, nlohmann::ordered_json tokens)
      : m_template(std::move(made)), m_tokens(std::move(tokens)) {}

  // Renders messages, with what belongs to them (`tools` and the like) in `more`. `asks` says
  // whether the text ends where an answer begins. Throws what jinja::Template::render throws.
  jinja::Rendered render(nlohmann::ordered_json const& messages, nlohmann::ordered_json const& more,
                         bool asks) const;
  bool has_generation() const { return m_template.has_generation(); }

 private:
  jinja::Template m_template;
  nlohmann::ordered_json m_tokens;
};

// Reads a model's template: chat_template.jinja, else `chat_template` in tokenizer_config.json, of
// the first folder that has one of them. Returns nothing if there is none. Throws Error(bad_input)
// that names the file if it cannot be read, or has what is not understood.
std::optional<ChatTemplate> open_chat_template(FileFolders const& folders);

}  // namespace spillway
