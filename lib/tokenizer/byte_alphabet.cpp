#include "tokenizer/byte_alphabet.hpp"

#include <array>
#include <cstddef>

#include "tokenizer/utf8.hpp"

namespace spillway {
namespace {

struct Alphabet {
  std::array<std::string, 0x100> characters;
  std::array<int, 0x180> bytes{};  // -1 where a character stands for none

  Alphabet() {
    bytes.fill(-1);
    char32_t next = 0x100;  // for bytes that are not printable
    for (int byte = 0; byte < 0x100; ++byte) {
      bool const is_printable =
          (byte >= '!' && byte <= '~') || (byte >= 0xA1 && byte <= 0xAC) || byte >= 0xAE;
      auto const c = is_printable ? static_cast<char32_t>(byte) : next++;
      append_utf8(c, characters[static_cast<std::size_t>(byte)]);
      bytes[c] = byte;
    }
  }
};

Alphabet const& alphabet() {
  static Alphabet const one;
  return one;
}

}  // namespace

void append_in_alphabet(std::string_view bytes, std::string& to) {
  auto const& characters = alphabet().characters;
  for (char const byte : bytes) to += characters[static_cast<unsigned char>(byte)];
}

std::optional<std::string> bytes_of_alphabet(std::string_view text) {
  auto const& bytes = alphabet().bytes;
  std::string result;
  while (!text.empty()) {
    auto const c = first_code_point(text);
    if (c.value >= bytes.size() || bytes[c.value] < 0) return std::nullopt;
    result += static_cast<char>(bytes[c.value]);
    text.remove_prefix(c.bytes);
  }
  return result;
}

}  // namespace spillway
