#include "app/generated.hpp"

#include <fmt/core.h>

#include <utility>

#include "base/printable.hpp"
#include "samples/byte_text.hpp"

namespace spillway {
namespace {

std::string filling_text(std::int32_t token, PromptForm form) {
  if (form == PromptForm::ids || token > 0xff) return std::to_string(token);
  bool const is_ascii = token >= 0x20 && token < 0x7f;
  return is_ascii ? fmt::format("'{}'", static_cast<char>(token))
                  : fmt::format("'\\x{:02x}'", token);
}

}  // namespace

std::string GeneratedTokens::text(std::span<std::int32_t const> tokens) {
  std::string text;
  for (auto const token : tokens) {
    if (m_form == PromptForm::text) {
      text += text_of(token, m_recipe);
    } else {
      text += fmt::format("{}{}", m_is_first ? "" : " ", token);
    }
    m_is_first = false;
  }
  return text;
}

void GeneratedTokens::show(std::string const& text) {
  m_held += text;
  auto const whole = whole_characters_bytes(m_held);
  m_print(m_held.substr(0, whole));
  m_held.erase(0, whole);
}

void GeneratedTokens::end() {
  m_print(std::exchange(m_held, "") + m_stops.rest());
}

std::string fillings_line(std::int64_t place, std::span<Likely const> fillings, PromptForm form) {
  auto line = fmt::format("{}:", place);
  for (auto const& [token, probability] : fillings)
    line += fmt::format("{} {} {:.4f}", &token == &fillings.front().token ? "" : ",",
                        filling_text(token, form), probability);
  return line;
}

}  // namespace spillway
