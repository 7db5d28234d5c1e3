#include "io/tokens/text_pieces.hpp"

#include <algorithm>
#include <span>
#include <utility>

namespace spillway {

TextPiece TextPieces::next() {
  TextPiece piece;
  if (m_file == m_files.size()) return piece;
  if (!m_reader) m_reader = std::make_unique<TextReader>(m_files[m_file]);
  piece.text = std::exchange(m_rest, "");
  while (true) {
    auto const before = piece.text.size();
    piece.text.resize(before + m_piece_bytes);
    auto const bytes =
        m_reader->read(std::as_writable_bytes(std::span(piece.text).subspan(before)));
    piece.text.resize(before + bytes);
    if (bytes == 0) break;
    // What was read before has no place to cut, unless with what has come behind it.
    auto const begin = before - std::min<std::size_t>(before, 2);
    auto const cut = m_tokenizer.last_cut(std::string_view(piece.text).substr(begin));
    if (cut == 0) continue;
    m_rest = piece.text.substr(begin + cut);
    piece.text.resize(begin + cut);
    return piece;
  }
  piece.ends_document = true;
  ++m_file;
  m_reader.reset();
  return piece;
}

}  // namespace spillway
