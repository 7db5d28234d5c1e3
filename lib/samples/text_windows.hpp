// Divides a text into windows, of which each makes one sequence.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "io/tokens/token_set.hpp"
#include "samples/recipe.hpp"

namespace spillway {

// A TextWindow has tokens [first, first + tokens) of a text. `used` of them get into the sequence.
struct TextWindow {
  std::int64_t first = 0, tokens = 0, used = 0;
};

// Returns whether a window ends where the rows of a sequence are full. This is so if spans of
// packed documents are predicted, because the rows that a document takes depend on where it ends.
// All other windows have Recipe::window tokens.
bool cuts_where_full(Recipe const& recipe);

// Returns a name for the rule by which windows end where rows are full, or "" if all windows are
// equally long. Checkpoints record the name, so it must change whenever the rule changes.
std::string cut_name(Recipe const& recipe);

// TextWindows are the windows of a text. Each begins where the one before it ends. Windows that end
// where rows are full leave out only documents of one token, which have no span. They are found by
// one walk over all documents, and the begin of every kStride-th window is stored.
class TextWindows {
 public:
  // `ends` are the tokens at which parts of the text end that share no window, ascending up to the
  // end of the text; if none are given, the text is one part. Throws what TokenSet throws if it
  // cannot read where documents begin.
  TextWindows(TokenSet const& tokens, Recipe const& recipe, std::vector<std::int64_t> ends = {});

  std::int64_t count() const { return m_behind.back(); }
  std::size_t parts() const { return m_ends.size(); }
  std::int64_t count_of(std::size_t part) const { return m_behind[part] - before(m_behind, part); }
  // Returns the number of a window among those of its part.
  std::int64_t number_in_part(std::int64_t window) const {
    auto const behind = std::ranges::upper_bound(m_behind, window);
    return window - before(m_behind, static_cast<std::size_t>(behind - m_behind.begin()));
  }
  std::int64_t used_tokens() const { return m_used; }  // sums up TextWindow::used

  // Returns window 0 <= `window` < count(). `tokens` must be what the constructor was given. Does
  // not allocate if `scratch` has room for scratch_size() elements. Any thread may call it. Throws
  // what TokenSet throws if it cannot read where documents begin.
  TextWindow at(TokenSet const& tokens, std::int64_t window,
                std::vector<std::int64_t>& scratch) const;
  std::size_t scratch_size() const;
  // Returns the sum of TextWindow::used over the windows [first, first + count). Throws what
  // TokenSet throws if it cannot read where documents begin.
  std::int64_t used_tokens(TokenSet const& tokens, std::int64_t first, std::int64_t count) const;

 private:
  static constexpr std::int64_t kStride = 8;

  static std::int64_t before(std::vector<std::int64_t> const& parts, std::size_t part) {
    return part == 0 ? 0 : parts[part - 1];
  }
  void walk_over(TokenSet const& tokens);

  Recipe m_recipe;
  std::vector<std::int64_t> m_ends;    // the token behind each part
  std::vector<std::int64_t> m_behind;  // the number behind the last window of each part
  std::int64_t m_used = 0;
  // The first tokens of windows 0, kStride, 2 kStride, ... Empty if all windows are equally long.
  std::vector<std::int64_t> m_firsts;
};

struct SampledText {
  TokenSet tokens;
  TextWindows windows;
};

}  // namespace spillway
