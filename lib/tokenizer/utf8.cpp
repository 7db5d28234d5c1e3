#include "tokenizer/utf8.hpp"

namespace spillway {
namespace {

unsigned char byte_at(std::string_view text, std::size_t at) {
  return static_cast<unsigned char>(text[at]);
}

bool continues(unsigned char byte) {
  return (byte & 0xC0) == 0x80;
}

// What the first byte of a character says of the bytes behind it.
struct Lead {
  std::size_t bytes;  // of the whole character; 0 if none begins with this byte
  unsigned char least = 0x80, most = 0xBF;  // of the second byte
};

Lead lead_of(unsigned char first) {
  if (first < 0x80) return {1};
  if (first < 0xC2 || first > 0xF4) return {0};
  if (first < 0xE0) return {2};
  if (first == 0xE0) return {3, 0xA0, 0xBF};
  if (first == 0xED) return {3, 0x80, 0x9F};  // what follows would be a surrogate
  if (first < 0xF0) return {3};
  if (first == 0xF0) return {4, 0x90, 0xBF};
  return first == 0xF4 ? Lead{4, 0x80, 0x8F} : Lead{4};
}

struct Part {
  std::size_t bytes;
  bool valid;
};

// Returns how many bytes of a non-empty text belong to its first character, or to the beginning of
// one.
Part first_part(std::string_view text) {
  auto const lead = lead_of(byte_at(text, 0));
  if (lead.bytes < 2) return {1, lead.bytes == 1};
  if (text.size() < 2 || byte_at(text, 1) < lead.least || byte_at(text, 1) > lead.most)
    return {1, false};
  std::size_t bytes = 2;
  while (bytes < lead.bytes && bytes < text.size() && continues(byte_at(text, bytes))) ++bytes;
  return {bytes, bytes == lead.bytes};
}

}  // namespace

CodePoint first_code_point(std::string_view text) {
  auto const first = byte_at(text, 0);
  if (first < 0x80) return {first, 1};
  auto const bytes = lead_of(first).bytes;
  char32_t value = first & (0xFFU >> (bytes + 1));
  for (std::size_t i = 1; i < bytes; ++i) value = value << 6 | (byte_at(text, i) & 0x3FU);
  return {value, bytes};
}

CodePoint last_code_point(std::string_view text) {
  auto begin = text.size() - 1;
  while (continues(byte_at(text, begin))) --begin;
  return first_code_point(text.substr(begin));
}

void append_utf8(char32_t code_point, std::string& to) {
  auto const tail = [&](int shift) {
    to += static_cast<char>(0x80U | ((code_point >> shift) & 0x3FU));
  };
  if (code_point < 0x80) {
    to += static_cast<char>(code_point);
  } else if (code_point < 0x800) {
    to += static_cast<char>(0xC0U | code_point >> 6);
    tail(0);
  } else if (code_point < 0x10000) {
    to += static_cast<char>(0xE0U | code_point >> 12);
    tail(6);
    tail(0);
  } else {
    to += static_cast<char>(0xF0U | code_point >> 18);
    tail(12);
    tail(6);
    tail(0);
  }
}

std::string as_utf8(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  while (!text.empty()) {
    std::size_t sound = 0;
    while (sound < text.size() && byte_at(text, sound) < 0x80) ++sound;
    result += text.substr(0, sound);
    text.remove_prefix(sound);
    if (text.empty()) break;
    auto const [bytes, valid] = first_part(text);
    result += valid ? text.substr(0, bytes) : "\xEF\xBF\xBD";
    text.remove_prefix(bytes);
  }
  return result;
}

}  // namespace spillway
