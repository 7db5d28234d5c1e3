// Prints what `generate` makes, as the prompt was given: text or token ids.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "generate/sampling.hpp"
#include "samples/recipe.hpp"

namespace spillway {

enum class PromptForm : std::uint8_t { text, ids };

// Shows tokens as they come, on one line of ids or as text. A terminal gets whole characters only:
// tokens of text are bytes, and one may end inside a character.
class GeneratedTokens {
 public:
  GeneratedTokens(PromptForm form, Recipe const& recipe) : m_form(form), m_recipe(recipe) {}

  void add(std::span<std::int32_t const> tokens);
  void end();

 private:
  PromptForm m_form;
  Recipe const& m_recipe;
  std::string m_held;
  bool m_is_first = true;
};

// "2: 'e' 0.4123, 't' 0.1021", of the second place to fill; bytes that are no printable ASCII have
// the form '\x0a', and tokens that are no byte are ids.
std::string fillings_line(std::int64_t place, std::span<Likely const> fillings, PromptForm form);

}  // namespace spillway
