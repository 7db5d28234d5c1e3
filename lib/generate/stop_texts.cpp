#include "generate/stop_texts.hpp"

#include <algorithm>
#include <utility>

namespace spillway {

// Returns how many bytes at the end of m_held may be the beginning of a stop text.
std::size_t StopTexts::held_bytes() const {
  std::size_t most = 0;
  for (auto const& text : m_texts)
    for (auto bytes = std::min(text.size() - 1, m_held.size()); bytes > most; --bytes)
      if (m_held.ends_with(std::string_view(text).substr(0, bytes))) most = bytes;
  return most;
}

std::string StopTexts::add(std::string_view text) {
  if (m_is_reached) return "";
  m_held += text;
  auto end = m_held.npos;
  for (auto const& stop : m_texts) end = std::min(end, m_held.find(stop));
  m_is_reached = end != m_held.npos;
  auto const shown = m_is_reached ? end : m_held.size() - held_bytes();
  auto result = m_held.substr(0, shown);
  m_held.erase(0, m_is_reached ? m_held.npos : shown);
  return result;
}

std::string StopTexts::rest() {
  return std::exchange(m_held, "");
}

}  // namespace spillway
