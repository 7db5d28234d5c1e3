#include "tokenizer/text_stream.hpp"

#include <algorithm>

namespace spillway {
namespace {

// A character has at most four bytes, and each may be a token.
constexpr std::size_t kMostHeld = 4;
// What a token is as text does not depend on more tokens before it.
constexpr std::size_t kMostFollowed = 16;

}  // namespace

std::string TextStream::text_behind_shown() const {
  auto const text = m_tokenizer.decode(m_ids, m_with_special);
  return text.substr(std::min(m_shown_bytes, text.size()));
}

void TextStream::follow(std::span<std::int32_t const> ids) {
  auto const latest = ids.last(std::min(ids.size(), kMostFollowed));
  m_ids.assign(latest.begin(), latest.end());
  m_shown = m_ids.size();
  m_shown_bytes = m_tokenizer.decode(m_ids, m_with_special).size();
}

std::string TextStream::add(std::int32_t id) {
  m_ids.push_back(id);
  auto const text = text_behind_shown();
  bool const is_incomplete = text.ends_with("\xEF\xBF\xBD");
  if (text.empty() || (is_incomplete && m_ids.size() - m_shown < kMostHeld)) return "";
  m_ids.erase(m_ids.begin(), m_ids.begin() + static_cast<std::ptrdiff_t>(m_shown));
  m_shown = m_ids.size();
  m_shown_bytes = m_tokenizer.decode(m_ids, m_with_special).size();
  return text;
}

std::string TextStream::end() {
  auto const text = text_behind_shown();
  m_shown = m_ids.size();
  m_shown_bytes += text.size();
  return text;
}

}  // namespace spillway
