#include "huggingface/model_files.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "base/input_file.hpp"
#include "huggingface/description.hpp"
#include "io/h5/carried_files.hpp"

namespace spillway {

std::vector<std::filesystem::path> model_files(std::filesystem::path const& directory) {
  constexpr std::array<std::string_view, 13> names = {
      kConfigFile,         "generation_config.json",
      "tokenizer.json",    "tokenizer_config.json",
      "vocab.json",        "merges.txt",
      "vocab.txt",         "spiece.model",
      "tokenizer.model",   "special_tokens_map.json",
      "added_tokens.json", "chat_template.jinja",
      "chat_template.json"};
  std::vector<std::filesystem::path> files;
  for (auto const name : names) {
    std::error_code unseen;  // to read it says why
    if (std::filesystem::exists(std::filesystem::symlink_status(directory / name, unseen)))
      files.push_back(directory / name);
  }
  return files;
}

std::string read_model_file(std::filesystem::path const& path) {
  return read_input(path, kMostCarriedBytes);
}

}  // namespace spillway
