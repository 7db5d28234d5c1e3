#include "base/printable.hpp"

#include <algorithm>
#include <array>

namespace spillway {
namespace {

unsigned byte_at(std::string_view text, std::size_t i) {
  return static_cast<unsigned char>(text[i]);
}

// Returns how many bytes the UTF-8 character has that begins with the byte `first`, or 0 if no
// character does.
std::size_t announced_bytes(unsigned first) {
  if (first < 0x80) return 1;
  if (first >= 0xc2 && first < 0xe0) return 2;
  if (first >= 0xe0 && first < 0xf0) return 3;
  return first >= 0xf0 && first < 0xf5 ? 4 : 0;
}

bool continues(std::string_view text, std::size_t i) {
  return (byte_at(text, i) & 0xc0) == 0x80;
}

// Overlong forms, surrogates and code points beyond Unicode differ from valid characters in the
// second byte at the latest.
bool second_byte_fits(unsigned first, unsigned second) {
  if (first == 0xe0) return second >= 0xa0;
  if (first == 0xed) return second < 0xa0;
  if (first == 0xf0) return second >= 0x90;
  return first != 0xf4 || second < 0x90;
}

bool is_control(unsigned first, unsigned second) {
  if (first == '\n' || first == '\t') return false;
  return first < 0x20 || first == 0x7f || (first == 0xc2 && second < 0xa0);
}

// Returns the size of the character at the beginning of `text`, or 0 if there is no valid one.
std::size_t character_bytes(std::string_view text) {
  auto const size = announced_bytes(byte_at(text, 0));
  if (size == 0 || size > text.size()) return 0;
  for (std::size_t i = 1; i < size; ++i)
    if (!continues(text, i)) return 0;
  bool const sound = size == 1 || second_byte_fits(byte_at(text, 0), byte_at(text, 1));
  return sound ? size : 0;
}

// Returns the size of the character at the beginning of `text`, or 0 if that is a control character
// or not valid UTF-8.
std::size_t printable_bytes(std::string_view text) {
  auto const size = character_bytes(text);
  auto const second = size > 1 ? byte_at(text, 1) : 0;
  return size > 0 && !is_control(byte_at(text, 0), second) ? size : 0;
}

}  // namespace

std::string printable(std::string_view text) {
  constexpr std::array kDigits = {'0', '1', '2', '3', '4', '5', '6', '7',
                                  '8', '9', 'a', 'b', 'c', 'd', 'e', 'f'};
  std::string result;
  result.reserve(text.size());
  while (!text.empty()) {
    auto const size = printable_bytes(text);
    if (size == 0) {
      auto const byte = byte_at(text, 0);
      result += {'\\', 'x', kDigits[byte / 16], kDigits[byte % 16]};
    }
    result += text.substr(0, size);
    text.remove_prefix(std::max<std::size_t>(size, 1));
  }
  return result;
}

bool is_text(std::string_view text) {
  if (text.find('\0') != text.npos) return false;
  while (!text.empty()) {
    auto const size = character_bytes(text);
    if (size == 0) return false;
    text.remove_prefix(size);
  }
  return true;
}

std::size_t whole_characters_bytes(std::string_view text) {
  auto first = text.size();
  while (first > 0 && text.size() - first < 3 && continues(text, first - 1)) --first;
  if (first == 0) return text.size();
  --first;
  return announced_bytes(byte_at(text, first)) > text.size() - first ? first : text.size();
}

}  // namespace spillway
