#include "jinja/python_text.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace spillway::jinja {
namespace {

// White space beyond ASCII, as UTF-8 (str.isspace).
constexpr std::array<std::string_view, 19> kWideSpaces = {
    "\xc2\x85",     "\xc2\xa0",     "\xe1\x9a\x80", "\xe2\x80\x80", "\xe2\x80\x81",
    "\xe2\x80\x82", "\xe2\x80\x83", "\xe2\x80\x84", "\xe2\x80\x85", "\xe2\x80\x86",
    "\xe2\x80\x87", "\xe2\x80\x88", "\xe2\x80\x89", "\xe2\x80\x8a", "\xe2\x80\xa8",
    "\xe2\x80\xa9", "\xe2\x80\xaf", "\xe2\x81\x9f", "\xe3\x80\x80"};

bool is_space(std::string_view character) {
  auto const c = character.front();
  if (character.size() == 1) return c == ' ' || (c >= 9 && c <= 13) || (c >= 28 && c <= 31);
  return std::ranges::find(kWideSpaces, character) != kWideSpaces.end();
}

std::size_t character_bytes(char first) {
  auto const c = static_cast<unsigned char>(first);
  return c < 0xc0 ? 1 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4;
}

void append_character(std::uint32_t c, std::string& to) {
  auto const tail = [&](int shift) { to += static_cast<char>(0x80 | (c >> shift & 0x3f)); };
  if (c < 0x80) {
    to += static_cast<char>(c);
  } else if (c < 0x800) {
    to += static_cast<char>(0xc0 | c >> 6), tail(0);
  } else {
    to += static_cast<char>(0xe0 | c >> 12), tail(6), tail(0);
  }
}

// Reads \xNN or \uNNNN, of which `digits` follow; nothing for what is no character by itself.
std::optional<std::uint32_t> code_in(std::string_view text, std::size_t digits) {
  std::uint32_t code = 0;
  if (text.size() < digits) return {};
  auto const* const end = text.data() + digits;
  auto const read = std::from_chars(text.data(), end, code, 16);
  bool const is_surrogate = code >= 0xd800 && code < 0xe000;
  if (read.ptr != end || is_surrogate) return {};
  return code;
}

std::vector<std::string> split_at_spaces(std::string_view text, std::int64_t most) {
  std::vector<std::string> parts;
  auto const places = character_places(text);
  std::size_t i = 0;
  auto const character = [&](std::size_t at) {
    return text.substr(places[at], places[at + 1] - places[at]);
  };
  while (true) {
    while (i + 1 < places.size() && is_space(character(i))) ++i;
    if (i + 1 >= places.size()) return parts;
    if (most >= 0 && std::ssize(parts) == most) {
      parts.push_back(stripped(text.substr(places[i]), Side::right));
      return parts;
    }
    auto const begin = places[i];
    while (i + 1 < places.size() && !is_space(character(i))) ++i;
    parts.emplace_back(text.substr(begin, places[i] - begin));
  }
}

void append_json_string(std::string_view text, std::string& to) {
  to += '"';
  for (char const c : text) {
    constexpr std::string_view plain = "\"\\\n\r\t\f\b", letters = "\"\\nrtfb";
    auto const escape = plain.find(c);
    if (escape != plain.npos)
      to += {'\\', letters[escape]};
    else if (static_cast<unsigned char>(c) < 32)
      to += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    else
      to += c;
  }
  to += '"';
}

class JsonWriter {
 public:
  explicit JsonWriter(JsonStyle style) : m_style(style) {}

  bool write(Value const& value, std::int64_t depth) {
    if (value.is<None>())
      m_text += "null";
    else if (auto const* const flag = value.get<bool>())
      m_text += *flag ? "true" : "false";
    else if (auto const* const integer = value.get<std::int64_t>())
      m_text += std::to_string(*integer);
    else if (auto const* const real = value.get<double>())
      m_text += number_text(*real);
    else if (auto const* const text = value.get<Text>())
      append_json_string(**text, m_text);
    else if (auto const* const list = value.get<List>())
      return write_list(**list, depth);
    else if (auto const* const map = value.get<Map>())
      return write_map((*map)->entries, depth);
    else
      return false;
    return true;
  }
  std::string take() { return std::move(m_text); }

 private:
  void new_line(std::int64_t depth) {
    if (m_style.indent < 0) return;
    m_text += '\n' + std::string(static_cast<std::size_t>(depth * m_style.indent), ' ');
  }
  void comma(bool is_first, std::int64_t depth) {
    if (!is_first) m_text += m_style.indent < 0 ? ", " : ",";
    new_line(depth);
  }
  bool write_list(Elements const& elements, std::int64_t depth) {
    m_text += '[';
    for (auto const& one : elements) {
      comma(&one == &elements.front(), depth + 1);
      if (!write(one, depth + 1)) return false;
    }
    if (!elements.empty()) new_line(depth);
    m_text += ']';
    return true;
  }
  bool write_map(Entries entries, std::int64_t depth) {
    if (m_style.sorts_keys) std::ranges::sort(entries, {}, &Entries::value_type::first);
    m_text += '{';
    for (auto const& [name, one] : entries) {
      comma(&name == &entries.front().first, depth + 1);
      append_json_string(name, m_text);
      m_text += ": ";
      if (!write(one, depth + 1)) return false;
    }
    if (!entries.empty()) new_line(depth);
    m_text += '}';
    return true;
  }

  JsonStyle m_style;
  std::string m_text;
};

}  // namespace

std::optional<std::string> unescaped(std::string_view literal) {
  std::string text;
  for (std::size_t i = 0; i < literal.size(); ++i) {
    if (literal[i] != '\\') {
      text += literal[i];
      continue;
    }
    constexpr std::string_view letters = "ntrfvab\\'\"", plain = "\n\t\r\f\v\a\b\\'\"";
    auto const letter = literal[++i];
    auto const known = letters.find(letter);
    if (known != letters.npos) {
      text += plain[known];
    } else if (letter == 'x' || letter == 'u') {
      std::size_t const digits = letter == 'x' ? 2 : 4;
      auto const code = code_in(literal.substr(i + 1), digits);
      if (!code) return {};
      append_character(*code, text);
      i += digits;
    } else {
      return {};
    }
  }
  return text;
}

std::vector<std::size_t> character_places(std::string_view text) {
  std::vector<std::size_t> places;
  for (std::size_t at = 0; at < text.size(); at += character_bytes(text[at])) places.push_back(at);
  places.push_back(text.size());
  return places;
}

std::string stripped(std::string_view text, Side side, std::optional<std::string_view> which) {
  auto const goes = [&](std::string_view character) {
    return which ? which->find(character) != which->npos : is_space(character);
  };
  while (side != Side::right && !text.empty()) {
    auto const bytes = std::min(character_bytes(text.front()), text.size());
    if (!goes(text.substr(0, bytes))) break;
    text.remove_prefix(bytes);
  }
  while (side != Side::left && !text.empty()) {
    auto begin = text.size() - 1;
    while (begin > 0 && (static_cast<unsigned char>(text[begin]) & 0xc0) == 0x80) --begin;
    if (!goes(text.substr(begin))) break;
    text = text.substr(0, begin);
  }
  return std::string(text);
}

std::vector<std::string> split_text(std::string_view text,
                                    std::optional<std::string_view> separator, std::int64_t most) {
  if (!separator) return split_at_spaces(text, most);
  std::vector<std::string> parts;
  while (most < 0 || std::ssize(parts) < most) {
    auto const at = text.find(*separator);
    if (at == text.npos) break;
    parts.emplace_back(text.substr(0, at));
    text.remove_prefix(at + separator->size());
  }
  parts.emplace_back(text);
  return parts;
}

std::string replaced(std::string_view text, std::string_view from, std::string_view to,
                     std::int64_t most) {
  std::string result;
  for (; most != 0; --most) {
    auto const at = text.find(from);
    if (at == text.npos) break;
    result += text.substr(0, at);
    result += to;
    text.remove_prefix(at + from.size());
  }
  return result += text;
}

std::string number_text(double number) {
  if (std::isnan(number)) return "nan";
  if (std::isinf(number)) return number > 0 ? "inf" : "-inf";
  std::array<char, 64> buffer{};
  auto const size = std::abs(number);
  bool const is_plain = size == 0 || (size >= 1e-4 && size < 1e16);
  auto const format = is_plain ? std::chars_format::fixed : std::chars_format::scientific;
  auto const end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), number, format).ptr;
  std::string text(buffer.data(), end);
  if (is_plain && text.find('.') == text.npos) text += ".0";
  return text;
}

std::optional<std::string> json_text(Value const& value, JsonStyle style) {
  JsonWriter writer(style);
  if (!writer.write(value, 0)) return {};
  return writer.take();
}

}  // namespace spillway::jinja
