#include "app/generated.hpp"

#include <fmt/core.h>

#include <utility>

#include "base/printable.hpp"
#include "base/standard_streams.hpp"
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

void GeneratedTokens::add(std::span<std::int32_t const> tokens) {
  for (auto const token : tokens) {
    if (m_form == PromptForm::text) {
      m_held += text_of(token, m_recipe);
    } else {
      m_held += fmt::format("{}{}", m_is_first ? "" : " ", token);
    }
    m_is_first = false;
  }
  auto const whole = whole_characters_bytes(m_held);
  print_bytes(m_held.substr(0, whole));
  m_held.erase(0, whole);
}

void GeneratedTokens::end() {
  print_bytes(std::exchange(m_held, "") + "\n");
}

std::string fillings_line(std::int64_t place, std::span<Likely const> fillings, PromptForm form) {
  auto line = fmt::format("{}:", place);
  for (auto const& [token, probability] : fillings)
    line += fmt::format("{} {} {:.4f}", &token == &fillings.front().token ? "" : ",",
                        filling_text(token, form), probability);
  return line;
}

}  // namespace spillway
