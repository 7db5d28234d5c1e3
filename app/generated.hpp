// Writes the tokens that `generate` makes, in the form that the prompt has: text or token ids.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "generate/sampling.hpp"
#include "generate/stop_texts.hpp"
#include "samples/recipe.hpp"
#include "tokenizer/text_stream.hpp"

namespace spillway {

enum class PromptForm : std::uint8_t { text, ids };

// A GeneratedTokens hands on tokens when they are added, as text or as ids on one line. Without a
// tokenizer, tokens of text are bytes. Bytes are held back until they complete a character.
class GeneratedTokens {
 public:
  using Print = std::function<void(std::string_view)>;
  // `tokenizer` may be null.
  GeneratedTokens(PromptForm form, Recipe const& recipe, Print print, StopTexts stops = StopTexts(),
                  Tokenizer const* tokenizer = nullptr);

  void add_prompt(std::span<std::int32_t const> tokens) { show(text(tokens)); }
  // Goes on behind a prompt that is not shown, or that the caller has shown.
  void follow(std::span<std::int32_t const> tokens);
  // Adds tokens that the model has made, of which nothing is shown from a stop text on.
  void add(std::span<std::int32_t const> tokens) { show(m_stops.add(text(tokens))); }
  bool is_stopped() const { return m_stops.is_reached(); }
  void end();  // shows what was held back

 private:
  std::string text(std::span<std::int32_t const> tokens);
  void show(std::string const& text);

  PromptForm m_form;
  Recipe const& m_recipe;
  Print m_print;
  StopTexts m_stops;
  std::optional<TextStream> m_stream;  // by the tokenizer
  std::string m_held;
  bool m_is_first = true;
};

// Returns a line such as "2: 'e' 0.4123, 't' 0.1021", which gives tokens and their probabilities
// for the second place to fill. Bytes that are not printable ASCII look like '\x0a', and tokens
// that are not bytes are written as ids.
// With a tokenizer all tokens are texts.
std::string fillings_line(std::int64_t place, std::span<Likely const> fillings, PromptForm form,
                          Tokenizer const* tokenizer = nullptr);

}  // namespace spillway
