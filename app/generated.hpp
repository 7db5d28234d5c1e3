// Prints the tokens that `generate` makes, in the form that the prompt has: text or token ids.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "generate/sampling.hpp"
#include "samples/recipe.hpp"

namespace spillway {

enum class PromptForm : std::uint8_t { text, ids };

// A GeneratedTokens prints tokens when they are added, as text or as ids on one line. Tokens of
// text are bytes, so bytes are held back until they complete a character.
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

// Returns a line such as "2: 'e' 0.4123, 't' 0.1021", which gives tokens and their probabilities
// for the second place to fill. Bytes that are not printable ASCII look like '\x0a', and tokens
// that are not bytes are written as ids.
std::string fillings_line(std::int64_t place, std::span<Likely const> fillings, PromptForm form);

}  // namespace spillway
