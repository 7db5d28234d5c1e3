#include "samples/text_windows.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "samples/span_corruption.hpp"

namespace spillway {
namespace {

constexpr std::int64_t kWalkedAtOnce = std::int64_t{1} << 20;

// Finds window after window of a text, from a token on at which one begins.
class Walk {
 public:
  // Looks up where documents begin in `at_once` tokens at a time, which are a window at least.
  Walk(TokenSet const& tokens, Recipe const& recipe, std::int64_t first, std::int64_t at_once)
      : m_tokens(tokens),
        m_recipe(recipe),
        m_at_once(std::max(at_once, recipe.window + 2)),
        m_first(first),
        m_known(first) {}

  // A window of which nothing is used ends the text.
  TextWindow next() {
    TextWindow window;
    while (window.used == 0 && m_first < m_tokens.count()) {
      look_up();
      window = cut();
      m_first += window.tokens;
    }
    return window;
  }

 private:
  TextWindow cut() {
    auto const limit = std::min(m_first + m_recipe.window, m_tokens.count());
    SpanRoom room(m_recipe);
    TextWindow window{m_first, 0, 0};
    auto at = m_first;
    while (at < limit) {
      auto const end = document_end(at);
      auto const here = std::min(end, limit) - at;
      auto fitting = room.fitting(here);
      // One token alone could not be told of in the next window.
      if (end - at == fitting + 1 && (fitting > 2 || at > m_first)) fitting -= fitting > 2 ? 1 : 2;
      auto const taken = room.take(fitting);
      window.used += taken;
      bool const is_full = taken < here && end - at > 1;
      at += is_full ? taken : here;
      if (is_full) break;
    }
    window.tokens = at - m_first;
    return window;
  }

  // Of the one that has the token `at`; as far as it matters here.
  std::int64_t document_end(std::int64_t at) {
    while (m_next < m_starts.size() && m_starts[m_next] <= at) ++m_next;
    return m_next < m_starts.size() ? m_starts[m_next] : m_tokens.count();
  }

  // Makes known where documents begin in the window at m_first and in the two tokens behind it.
  void look_up() {
    if (m_first + m_recipe.window + 2 <= m_known || m_known == m_tokens.count()) return;
    m_starts.erase(m_starts.begin(), m_starts.begin() + static_cast<std::ptrdiff_t>(m_next));
    m_next = 0;
    auto const end = std::min(std::max(m_known, m_first) + m_at_once, m_tokens.count());
    m_tokens.append_document_starts(m_known, end, m_starts);
    m_known = end;
  }

  TokenSet const& m_tokens;
  Recipe const& m_recipe;
  std::int64_t m_at_once;
  std::int64_t m_first;                // of the next window
  std::int64_t m_known;                // where documents begin is known before this token
  std::vector<std::int64_t> m_starts;  // from m_next on behind m_first
  std::size_t m_next = 0;
};

}  // namespace

bool cuts_where_full(Recipe const& recipe) {
  return recipe.pack && recipe.objective == Objective::spans;
}

std::string cut_name(Recipe const& recipe) {
  if (!cuts_where_full(recipe)) return "";
  return fmt::format("that end where {} rows are full{}", fmt::join(recipe.lengths, " or "),
                     recipe.ids.eos >= 0 ? ", one of them a document's end" : "");
}

TextWindows::TextWindows(TokenSet const& tokens, Recipe const& recipe) : m_recipe(recipe) {
  if (!cuts_where_full(recipe)) {
    m_count = (tokens.count() - 1) / recipe.window;  // the last one has a successor
    m_used = m_count * recipe.window;
    return;
  }
  Walk walk(tokens, m_recipe, 0, kWalkedAtOnce);
  for (auto window = walk.next(); window.used > 0; window = walk.next()) {
    if (m_count++ % kStride == 0) m_firsts.push_back(window.first);
    m_used += window.used;
  }
}

TextWindow TextWindows::at(TokenSet const& tokens, std::int64_t window) const {
  if (m_firsts.empty()) return {window * m_recipe.window, m_recipe.window, m_recipe.window};
  auto const known = m_firsts[static_cast<std::size_t>(window / kStride)];
  Walk walk(tokens, m_recipe, known, (window % kStride + 1) * m_recipe.window);
  auto found = walk.next();
  for (auto left = window % kStride; left > 0; --left) found = walk.next();
  return found;
}

std::int64_t TextWindows::used_tokens(TokenSet const& tokens, std::int64_t first,
                                      std::int64_t count) const {
  if (first == 0 && count == m_count) return m_used;
  std::int64_t used = 0;
  for (auto window = first; window < first + count; ++window) used += at(tokens, window).used;
  return used;
}

}  // namespace spillway
