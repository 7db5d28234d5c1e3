// Makes token files of text with a tokenizer.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>

#include "io/file/output.hpp"
#include "io/texts/input_kind.hpp"
#include "records/documents.hpp"
#include "tokenizer/tokenizer.hpp"

namespace spillway {

struct TextTokensWork {
  bool separator = false;  // says whether the token that ends texts is put behind each
  std::size_t threads = 1;
  std::size_t piece_bytes = std::size_t{1} << 18;  // of text that a thread takes at a time
  std::optional<TextFormat> format = {};           // of all files; without it, their names say it
  RecordRules rules = {};
  // Where tokens are kept meanwhile, so that the same work goes on if it is interrupted; empty:
  // they are lost then. `identity` says what of the options, and of all else that decides the
  // tokens, is not in this struct and no input.
  std::filesystem::path unfinished = {};
  std::string identity = {};
  std::int64_t keep_every_bytes = std::int64_t{1} << 28;  // of input files
};

struct TokenizeResult {
  std::int64_t tokens = 0, documents = 0;           // each text with a token is a document
  std::int64_t empty_files = 0, empty_records = 0;  // which were left out
  std::optional<std::int64_t> learned = {};         // tokens; without it all are
};

// Writes the tokens of `files`, in this order, as the token file `out`: the same ones, however many
// threads there are. A file is a document, or has records that are (io/texts/input_kind.hpp); "-"
// is stdin. Throws Error(bad_input) if an input cannot be read or understood, if there is no token
// at all, if `separator` is wanted and no file says which token ends texts, or if `out` cannot be
// created; Error(damaged) if a file cannot be unpacked; Error(storage) if writing fails later.
// `told`, which may be empty, is called after some bytes of the files, with their number. Inputs
// that are kept unfinished must be files that are not stdin.
TokenizeResult tokenize_texts(std::span<std::filesystem::path const> files,
                              Tokenizer const& tokenizer, Output const& out,
                              TextTokensWork const& work,
                              std::function<void(std::int64_t bytes)> const& told = {});

}  // namespace spillway
