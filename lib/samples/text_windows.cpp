#include "samples/text_windows.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <span>
#include <utility>

#include "samples/span_corruption.hpp"

namespace spillway {
namespace {

constexpr std::int64_t kWalkedAtOnce = std::int64_t{1} << 20;

// Returns how many of the `left` tokens of a document the window takes. Only the next `here` of
// them are in the window. It never leaves a single token to the next window, because one token has
// no span.
std::int64_t part_that_fits(SpanRoom const& room, std::int64_t left, std::int64_t here) {
  auto const fitting = room.fitting(here);
  if (left != fitting + 1) return fitting;
  return fitting > 2 ? fitting - 1 : 0;
}

// A Walk finds the windows of a text one by one, from a token on at which a window begins.
class Walk {
 public:
  // Reads where documents begin for `at_once` tokens at a time, and keeps that in `starts`. No
  // window goes on behind one of `ends`, of which the last is the end of the text.
  Walk(TokenSet const& tokens, Recipe const& recipe, std::span<std::int64_t const> ends,
       std::int64_t first, std::int64_t at_once, std::vector<std::int64_t>& starts)
      : m_tokens(tokens),
        m_recipe(recipe),
        m_ends(ends),
        m_at_once(std::max(at_once, reach(recipe))),
        m_first(first),
        m_known(first),
        m_starts(starts) {
    m_starts.clear();
  }

  // Returns how many tokens must be known from the beginning of a window: the window and two more.
  static std::int64_t reach(Recipe const& recipe) { return recipe.window + 2; }

  // Returns the next window, or one with used = 0 at the end of the text.
  TextWindow next() {
    TextWindow window;
    while (window.used == 0 && m_first < m_tokens.count()) {
      look_up();
      window = cut();
      m_first += window.tokens;
    }
    return window;
  }

  void skip(std::int64_t windows) {
    for (; windows > 0; --windows) next();
  }

 private:
  TextWindow cut() {
    auto const limit =
        std::min(m_first + m_recipe.window, *std::ranges::upper_bound(m_ends, m_first));
    SpanRoom room(m_recipe);
    TextWindow window{m_first, 0, 0};
    auto at = m_first;
    for (bool is_full = false; at < limit && !is_full;) {
      auto const left = document_end(at) - at, here = std::min(left, limit - at);
      auto const taken = room.take(part_that_fits(room, left, here));
      window.used += taken;
      is_full = taken < here && left > 1;
      at += is_full ? taken : here;
    }
    window.tokens = at - m_first;
    return window;
  }

  // Returns the end of the document that has token `at`. If that end was not looked up, it lies
  // behind the window, and the end of the text serves as well.
  std::int64_t document_end(std::int64_t at) {
    while (m_next < m_starts.size() && m_starts[m_next] <= at) ++m_next;
    return m_next < m_starts.size() ? m_starts[m_next] : m_tokens.count();
  }

  void look_up() {
    if (m_first + reach(m_recipe) <= m_known || m_known == m_tokens.count()) return;
    m_starts.erase(m_starts.begin(), m_starts.begin() + static_cast<std::ptrdiff_t>(m_next));
    m_next = 0;
    auto const end = std::min(m_known + m_at_once, m_tokens.count());
    m_tokens.append_document_starts(m_known, end, m_starts);
    m_known = end;
  }

  TokenSet const& m_tokens;
  Recipe const& m_recipe;
  std::span<std::int64_t const> m_ends;
  std::int64_t m_at_once;
  std::int64_t m_first;  // the first token of the next window
  std::int64_t m_known;  // the first token not yet looked up for documents that begin
  std::vector<std::int64_t>& m_starts;  // elements from m_next on are tokens behind m_first
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

TextWindows::TextWindows(TokenSet const& tokens, Recipe const& recipe,
                         std::vector<std::int64_t> ends)
    : m_recipe(recipe), m_ends(std::move(ends)) {
  if (m_ends.empty()) m_ends = {tokens.count()};
  m_behind.resize(m_ends.size());
  if (cuts_where_full(recipe)) {
    walk_over(tokens);
    return;
  }
  for (std::size_t part = 0; part < parts(); ++part) {
    auto const size = m_ends[part] - before(m_ends, part);
    // The last window has a successor.
    m_behind[part] = before(m_behind, part) + (size - 1) / recipe.window;
  }
  m_used = count() * recipe.window;
}

void TextWindows::walk_over(TokenSet const& tokens) {
  std::vector<std::int64_t> starts;
  Walk walk(tokens, m_recipe, m_ends, 0, kWalkedAtOnce, starts);
  std::int64_t windows = 0;
  for (auto window = walk.next(); window.used > 0; window = walk.next()) {
    if (windows++ % kStride == 0) m_firsts.push_back(window.first);
    m_used += window.used;
    auto const part = std::ranges::upper_bound(m_ends, window.first) - m_ends.begin();
    m_behind[static_cast<std::size_t>(part)] = windows;
  }
  for (std::size_t part = 0; part < parts(); ++part)  // of parts without a window
    m_behind[part] = std::max(m_behind[part], before(m_behind, part));
}

// A Walk keeps document starts of two look-ups: the rest of one and the whole of the next one.
std::size_t TextWindows::scratch_size() const {
  return m_firsts.empty() ? 0 : static_cast<std::size_t>(2 * Walk::reach(m_recipe));
}

TextWindow TextWindows::at(TokenSet const& tokens, std::int64_t window,
                           std::vector<std::int64_t>& scratch) const {
  if (m_firsts.empty()) {
    auto const part = std::ranges::upper_bound(m_behind, window) - m_behind.begin();
    auto const at = static_cast<std::size_t>(part);
    auto const number = window - before(m_behind, at);
    return {before(m_ends, at) + number * m_recipe.window, m_recipe.window, m_recipe.window};
  }
  Walk walk(tokens, m_recipe, m_ends, m_firsts[static_cast<std::size_t>(window / kStride)], 0,
            scratch);
  walk.skip(window % kStride);
  return walk.next();
}

std::int64_t TextWindows::used_tokens(TokenSet const& tokens, std::int64_t first,
                                      std::int64_t count) const {
  if (m_firsts.empty()) return count * m_recipe.window;
  if (count == 0) return 0;
  auto const known = m_firsts[static_cast<std::size_t>(first / kStride)];
  std::vector<std::int64_t> starts;
  Walk walk(tokens, m_recipe, m_ends, known, std::min(kWalkedAtOnce, count * m_recipe.window),
            starts);
  walk.skip(first % kStride);
  std::int64_t used = 0;
  for (; count > 0; --count) used += walk.next().used;
  return used;
}

}  // namespace spillway
