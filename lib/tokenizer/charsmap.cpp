#include "tokenizer/charsmap.hpp"

#include <array>
#include <cstring>

#include "tokenizer/unicode.hpp"
#include "tokenizer/utf8.hpp"

namespace spillway {
namespace {

// Graphemes of more bytes are looked up character by character.
constexpr std::size_t kMostGraphemeBytes = 5;

std::string decoded_base64(JsonNode const& node) {
  constexpr std::string_view digits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string bytes;
  std::uint32_t bits = 0;
  int count = 0;
  for (char const c : node.as_text()) {
    if (c == '=') break;
    auto const digit = digits.find(c);
    if (digit == digits.npos) node.refuse("is not in base64");
    bits = bits << 6 | static_cast<std::uint32_t>(digit);
    count += 6;
    if (count < 8) continue;
    count -= 8;
    bytes += static_cast<char>(bits >> count);
  }
  return bytes;
}

// A unit of a double array: where its children lie, and the byte that leads to it.
bool has_leaf(std::uint32_t unit) {
  return (unit >> 8 & 1) == 1;
}
std::uint32_t value_of(std::uint32_t unit) {
  return unit & 0x7FFFFFFF;
}
std::uint32_t label_of(std::uint32_t unit) {
  return unit & 0x800000FF;
}
std::uint32_t offset_of(std::uint32_t unit) {
  return unit >> 10 << ((unit & 1U << 9) >> 6);
}

}  // namespace

Charsmap::Charsmap(JsonNode const& node) {
  auto const bytes = decoded_base64(node);
  std::uint32_t units_bytes = 0;
  if (bytes.size() < sizeof units_bytes) node.refuse("is cut short");
  std::memcpy(&units_bytes, bytes.data(), sizeof units_bytes);
  auto const rest = std::string_view(bytes).substr(sizeof units_bytes);
  if (units_bytes > rest.size() || units_bytes % 4 != 0 || units_bytes == 0)
    node.refuse("is cut short");
  m_units.resize(units_bytes / 4);
  std::memcpy(m_units.data(), rest.data(), units_bytes);
  m_replacements = rest.substr(units_bytes);
  m_replacements += '\0';
}

// Returns what the shortest beginning of `characters` that the map has is replaced by; it stands
// for all of them.
std::optional<std::string_view> Charsmap::replacement(std::string_view characters) const {
  std::uint32_t at = offset_of(m_units[0]);
  for (char const c : characters) {
    auto const byte = static_cast<unsigned char>(c);
    if (byte == 0) return std::nullopt;
    at ^= byte;
    if (at >= m_units.size() || label_of(m_units[at]) != byte) return std::nullopt;
    auto const unit = m_units[at];
    at ^= offset_of(unit);
    if (!has_leaf(unit)) continue;
    if (at >= m_units.size() || value_of(m_units[at]) >= m_replacements.size()) return std::nullopt;
    return std::string_view(m_replacements.data() + value_of(m_units[at]));
  }
  return std::nullopt;
}

std::string Charsmap::replaced(std::string_view text) const {
  std::string result;
  result.reserve(text.size());
  while (!text.empty()) {
    auto const grapheme = text.substr(0, first_grapheme_bytes(text));
    text.remove_prefix(grapheme.size());
    auto const whole = grapheme.size() <= kMostGraphemeBytes ? replacement(grapheme) : std::nullopt;
    if (whole) {
      result += *whole;
      continue;
    }
    for (auto rest = grapheme; !rest.empty();) {
      auto const character = rest.substr(0, first_code_point(rest).bytes);
      result += replacement(character).value_or(character);
      rest.remove_prefix(character.size());
    }
  }
  return as_utf8(result);  // whoever made the map may have cut characters
}

}  // namespace spillway
