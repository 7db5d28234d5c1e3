// Says by which rules records become texts for a tokenizer, with the chat template beside it.
#pragma once

#include <filesystem>

#include "base/file_folders.hpp"
#include "records/documents.hpp"
#include "tokenizer/tokenizer.hpp"

namespace spillway {

// Returns the rules with the tokenizer's special tokens and a model's chat template. A template
// that cannot be read is told in RecordRules::no_chat, as it matters only to messages.
RecordRules record_rules(FileFolders const& folders, Tokenizer const& tokenizer);

// Returns the directory that a tokenizer's path names, or in which it lies.
std::filesystem::path model_directory_of(std::filesystem::path const& tokenizer);

}  // namespace spillway
