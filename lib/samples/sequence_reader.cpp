#include "samples/sequence_reader.hpp"

#include <algorithm>
#include <span>
#include <utility>

#include "samples/objectives.hpp"

namespace spillway {

SequenceReader::SequenceReader(TokenSet const& tokens, TextWindows const& windows, Recipe recipe)
    : m_tokens(tokens),
      m_windows(windows),
      m_recipe(std::move(recipe)),
      m_window(static_cast<std::size_t>(m_recipe.window + 1)),
      m_learned(tokens.has_mask() ? m_window.size() : 0),
      m_sequence(m_recipe.lengths) {
  m_starts.reserve(m_window.size());
  m_scratch.reserve(m_windows.scratch_size());
}

void SequenceReader::read(std::optional<TextWindow> const& window, std::int64_t sample,
                          std::int64_t micro, std::int64_t row, BatchBuffers const& to) {
  if (window) {
    auto const first = window->first, end = first + window->tokens + 1;
    auto const text = std::span(m_window).first(static_cast<std::size_t>(end - first));
    // The token behind the window is needed only if windows have equal length, and then the text
    // has one.
    auto const there = static_cast<std::size_t>(std::min(end, m_tokens.count()) - first);
    m_tokens.read(first, text.first(there));
    m_starts.clear();
    if (m_recipe.pack)
      m_tokens.append_document_starts(first + 1, std::min(end, m_tokens.count()), m_starts);
    for (auto& start : m_starts) start -= first;
    auto const learned = std::span(m_learned).first(m_learned.empty() ? 0 : text.size());
    if (!learned.empty()) m_tokens.read_mask(first, learned.first(there));
    if (m_recipe.learns_seen)
      for (auto& one : learned) one = one == 0 ? 1 : 0;
    make_sequence(m_recipe, {text, m_starts, learned}, sample, m_sequence.fields());
  } else {
    make_padding(m_recipe, m_sequence.fields());
  }
  m_sequence.copy_to(to, micro, row);
}

}  // namespace spillway
