#include "train/sequence_reader.hpp"

#include <utility>

#include "train/objectives.hpp"

namespace spillway {

SequenceReader::SequenceReader(TokenSet const& tokens, Recipe recipe)
    : m_tokens(tokens),
      m_recipe(std::move(recipe)),
      m_window(static_cast<std::size_t>(m_recipe.window + 1)),
      m_sequence(m_recipe.lengths) {
  m_starts.reserve(m_window.size());
}

void SequenceReader::read(std::optional<std::int64_t> first_token, std::int64_t sample,
                          std::int64_t micro, std::int64_t row, BatchBuffers const& to) {
  if (first_token) {
    m_tokens.read(*first_token, m_window);
    m_starts.clear();
    auto const end = *first_token + std::ssize(m_window);
    if (m_recipe.pack) m_tokens.append_document_starts(*first_token + 1, end, m_starts);
    for (auto& start : m_starts) start -= *first_token;
    make_sequence(m_recipe, {m_window, m_starts}, sample, m_sequence.fields());
  } else {
    make_padding(m_recipe, m_sequence.fields());
  }
  m_sequence.copy_to(to, micro, row);
}

}  // namespace spillway
