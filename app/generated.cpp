#include "app/generated.hpp"

#include <fmt/core.h>

#include <utility>

#include "base/printable.hpp"
#include "samples/byte_text.hpp"

namespace spillway {
namespace {

std::string filling_text(std::int32_t token, PromptForm form, Tokenizer const* tokenizer) {
  if (form == PromptForm::text && tokenizer != nullptr)
    return fmt::format("'{}'", printable(tokenizer->decode({&token, 1}, true)));
  if (form == PromptForm::ids || token > 0xff) return std::to_string(token);
  bool const is_ascii = token >= 0x20 && token < 0x7f;
  return is_ascii ? fmt::format("'{}'", static_cast<char>(token))
                  : fmt::format("'\\x{:02x}'", token);
}

}  // namespace

GeneratedTokens::GeneratedTokens(PromptForm form, Recipe const& recipe, Print print,
                                 StopTexts stops, Tokenizer const* tokenizer)
    : m_form(form), m_recipe(recipe), m_print(std::move(print)), m_stops(std::move(stops)) {
  // Of T5 the sentinels are to be seen, which are special tokens.
  bool const with_special = recipe.objective == Objective::spans;
  if (tokenizer != nullptr && form == PromptForm::text) m_stream.emplace(*tokenizer, with_special);
}

void GeneratedTokens::follow(std::span<std::int32_t const> tokens) {
  if (m_stream) m_stream->follow(tokens);
}

std::string GeneratedTokens::text(std::span<std::int32_t const> tokens) {
  std::string text;
  for (auto const token : tokens) {
    if (m_stream) {
      bool const is_text = token != m_recipe.ids.eos && token != m_recipe.ids.pad;
      if (is_text || m_recipe.objective != Objective::spans) text += m_stream->add(token);
    } else if (m_form == PromptForm::text) {
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
  if (m_stream) show(m_stops.add(m_stream->end()));
  m_print(std::exchange(m_held, "") + m_stops.rest());
}

std::string fillings_line(std::int64_t place, std::span<Likely const> fillings, PromptForm form,
                          Tokenizer const* tokenizer) {
  auto line = fmt::format("{}:", place);
  for (auto const& [token, probability] : fillings)
    line += fmt::format("{} {} {:.4f}", &token == &fillings.front().token ? "" : ",",
                        filling_text(token, form, tokenizer), probability);
  return line;
}

}  // namespace spillway
