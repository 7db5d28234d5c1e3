// Opens the tokenizer of a published model.
#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/file_folders.hpp"
#include "tokenizer/tokenizer.hpp"

namespace spillway {

inline constexpr char const *kTokenizerFile = "tokenizer.json", *kByteTokenizer = "byte";

// Returns the names of files that a tokenizer is read from, the first of which holds if a directory
// has several.
std::span<char const* const> tokenizer_file_names();

// Returns the file that a directory's tokenizer is read from: tokenizer.json or, where there is
// none, a model of SentencePiece. Returns an empty path if it has neither.
std::filesystem::path tokenizer_file(std::filesystem::path const& directory);

// Opens a directory's tokenizer, a tokenizer.json, or a model of SentencePiece (*.model). Throws
// Error(bad_input) that names the file, and the key in it, that is missing, wrong or not known.
std::unique_ptr<Tokenizer const> open_tokenizer(std::filesystem::path const& path);
// Opens the tokenizer in that file, with what the folders' other files say of it.
std::unique_ptr<Tokenizer const> open_tokenizer(std::filesystem::path const& file,
                                                FileFolders const& folders);

// Returns the checksum that the facts of a tokenizer have whose file has these bytes.
std::string tokenizer_checksum(std::string_view bytes);

}  // namespace spillway
