// Which tokens of a text make one sequence.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "io/tokens/token_set.hpp"
#include "samples/recipe.hpp"

namespace spillway {

// Tokens [first, first + tokens) of a text, of which `used` become a part of the sequence.
struct TextWindow {
  std::int64_t first = 0, tokens = 0, used = 0;
};

// Whether windows end where rows are full: where spans of packed documents are predicted, since the
// rows that a document takes depend on where it ends. All others are as long as Recipe::window.
bool cuts_where_full(Recipe const& recipe);

// Names what decides where such windows end; "" where all are equally long. A checkpoint keeps it,
// so a change of how they are cut must change the name.
std::string cut_name(Recipe const& recipe);

// The windows of a text; each begins where the one before it ends. Where they end when rows are
// full, no token is left out but documents of one token, of which nothing can be told; those
// windows are found by one walk over all documents, and every kStride-th is remembered.
class TextWindows {
 public:
  // Throws what reading where documents begin does.
  TextWindows(TokenSet const& tokens, Recipe const& recipe);

  std::int64_t count() const { return m_count; }
  std::int64_t used_tokens() const { return m_used; }  // of all windows

  // Returns window 0 <= `window` < count() of the tokens that the constructor was given. Allocates
  // nothing where `scratch` has room for scratch_size(). Any thread. Throws as the constructor
  // does.
  TextWindow at(TokenSet const& tokens, std::int64_t window,
                std::vector<std::int64_t>& scratch) const;
  std::size_t scratch_size() const;
  // Sums up TextWindow::used of the windows [first, first + count).
  std::int64_t used_tokens(TokenSet const& tokens, std::int64_t first, std::int64_t count) const;

 private:
  static constexpr std::int64_t kStride = 8;

  Recipe m_recipe;
  std::int64_t m_count = 0, m_used = 0;
  std::vector<std::int64_t> m_firsts;  // of windows 0, kStride, 2 kStride ..., where rows are full
};

// A text and its windows.
struct SampledText {
  TokenSet tokens;
  TextWindows windows;
};

}  // namespace spillway
