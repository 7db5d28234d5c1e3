// Opens models of SentencePiece (*.model), where the build has its library; only for this folder's
// sources.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "tokenizer/tokenizer.hpp"

namespace spillway {

// `bytes` are those of the file `path`. Throws Error(bad_input) that names the file if they are no
// model, or if this build has no SentencePiece. The vocabulary and its end are filled in here.
std::unique_ptr<Tokenizer const> open_sentence_piece(std::filesystem::path const& path,
                                                     std::string const& bytes,
                                                     TokenizerFacts facts);

}  // namespace spillway
