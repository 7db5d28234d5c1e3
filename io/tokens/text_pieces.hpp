// TextPieces cuts texts where their tokens are certainly parted, so that several threads can work
// on one text; only for this folder's sources.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "io/tokens/text_files.hpp"
#include "tokenizer/tokenizer.hpp"

namespace spillway {

struct TextPiece {
  std::string text;
  bool ends_document = false;
};

class TextPieces {
 public:
  // Pieces have about `piece_bytes`, or more where the tokenizer knows no place to cut.
  TextPieces(std::vector<TextFile> files, Tokenizer const& tokenizer, std::size_t piece_bytes)
      : m_files(std::move(files)), m_tokenizer(tokenizer), m_piece_bytes(piece_bytes) {}

  // Returns the next piece of the files, one file behind the other; an empty text at the end.
  // Throws what TextReader throws.
  TextPiece next();

 private:
  std::vector<TextFile> m_files;
  Tokenizer const& m_tokenizer;
  std::size_t m_piece_bytes;
  std::size_t m_file = 0;
  std::unique_ptr<TextReader> m_reader;  // of that file; null before its first piece
  std::string m_rest;                    // what has been read behind the last cut
};

}  // namespace spillway
