#include "app/record_rules.hpp"

#include <memory>
#include <system_error>
#include <utility>

#include "base/error.hpp"
#include "io/file/path_names.hpp"

namespace spillway {

RecordRules record_rules(FileFolders const& folders, Tokenizer const& tokenizer) {
  RecordRules rules;
  rules.special_tokens = tokenizer.special_tokens();
  try {
    if (auto chat = open_chat_template(folders))
      rules.chat = std::make_shared<ChatTemplate const>(std::move(*chat));
  } catch (Error const& refusal) {
    rules.no_chat = refusal.what();
  }
  return rules;
}

std::filesystem::path model_directory_of(std::filesystem::path const& tokenizer) {
  std::error_code error;  // what cannot be looked at is told where it is opened
  return std::filesystem::is_directory(tokenizer, error) ? tokenizer : directory_of(tokenizer);
}

}  // namespace spillway
