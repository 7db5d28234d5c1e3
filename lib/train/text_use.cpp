#include "train/text_use.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <span>
#include <vector>

#include "train/span_corruption.hpp"

namespace spillway {
namespace {

// Documents are looked up for many windows at once.
constexpr std::int64_t kTokensAtOnce = std::int64_t{1} << 20;

std::int64_t windows_at_once(Recipe const& recipe) {
  return std::max<std::int64_t>(1, kTokensAtOnce / recipe.window);
}

// Tells `visit` of the windows [first, end), which are few, where documents begin in each, after
// its first token, until it returns false. Returns whether it never did.
template <class Visit>
bool visit_windows(TokenSet const& tokens, Recipe const& recipe, std::int64_t first,
                   std::int64_t end, Visit const& visit) {
  std::vector<std::int64_t> starts;
  tokens.append_document_starts(first * recipe.window + 1, end * recipe.window + 1, starts);
  auto rest = std::span(starts);
  for (auto window = first; window < end; ++window) {
    auto const begin = window * recipe.window;
    auto const behind = std::ranges::lower_bound(rest, begin + recipe.window + 1);
    auto const own = rest.first(static_cast<std::size_t>(behind - rest.begin()));
    for (auto& start : own) start -= begin;
    if (!visit(std::span<std::int64_t const>(own))) return false;
    rest = rest.subspan(own.size());
  }
  return true;
}

// Counts the tokens of one window that its sequence has.
std::int64_t span_tokens(Recipe const& recipe, std::span<std::int64_t const> starts) {
  SpanRoom room(recipe);
  std::int64_t used = 0, begin = 0;
  auto const take_until = [&](std::int64_t end) {
    used += room.take(end - begin);
    begin = end;
  };
  for (auto const start : starts) take_until(std::min(start, recipe.window));
  take_until(recipe.window);
  return used;
}

bool has_target(Recipe const& recipe, std::span<std::int64_t const> starts) {
  if (recipe.objective == Objective::next) return std::ssize(starts) < recipe.window;
  return recipe.objective == Objective::masked || span_tokens(recipe, starts) > 0;
}

bool leaves_out(Recipe const& recipe) {
  return recipe.pack && recipe.objective == Objective::spans;
}

// The share of the tokens in windows that no sequence has.
double unused_share(TokenSet const& tokens, Recipe const& recipe) {
  constexpr std::int64_t most_looks = 4096;
  auto const windows = windows_of(tokens, recipe), at_once = windows_at_once(recipe);
  auto const stride = at_once * std::max<std::int64_t>(1, windows / at_once / most_looks);
  std::int64_t seen = 0, used = 0;
  for (std::int64_t first = 0; first < windows; first += stride) {
    auto const part = std::min(at_once, windows - first);
    seen += part * recipe.window;
    used += tokens_used(tokens, recipe, first, part);
  }
  return 1 - static_cast<double>(used) / static_cast<double>(seen);
}

// Returns what the recipe would be if the decoder were as long as the encoder.
Recipe with_long_decoder(Recipe recipe) {
  recipe.lengths[1] = std::max(recipe.lengths[0], recipe.lengths[1]);
  recipe.window = span_window(recipe.lengths[0], recipe.lengths[1]);
  return recipe;
}

}  // namespace

std::int64_t windows_of(TokenSet const& tokens, Recipe const& recipe) {
  return (tokens.count() - 1) / recipe.window;
}

bool can_predict(TokenSet const& tokens, Recipe const& recipe, std::int64_t windows) {
  if (!recipe.pack) return true;
  auto const has_none = [&](auto starts) { return !has_target(recipe, starts); };
  for (std::int64_t first = 0; first < windows; first += windows_at_once(recipe)) {
    auto const end = std::min(windows, first + windows_at_once(recipe));
    if (!visit_windows(tokens, recipe, first, end, has_none)) return true;
  }
  return false;
}

std::int64_t tokens_used(TokenSet const& tokens, Recipe const& recipe, std::int64_t first,
                         std::int64_t windows) {
  if (!leaves_out(recipe)) return windows * recipe.window;
  std::int64_t used = 0;
  auto const add = [&](auto starts) {
    used += span_tokens(recipe, starts);
    return true;
  };
  for (auto const end = first + windows; first < end; first += windows_at_once(recipe))
    visit_windows(tokens, recipe, first, std::min(end, first + windows_at_once(recipe)), add);
  return used;
}

std::string describe_unused(TokenSet const& tokens, Recipe const& recipe, char const* key) {
  if (!leaves_out(recipe)) return "";
  auto const share = unused_share(tokens, recipe);
  if (share == 0) return "";
  auto text = fmt::format(
      "{}: {:.3g} % of the tokens are never used: with data.pack and spans a sequence is full "
      "before its window ends, or a document has one token in it; ",
      key, 100 * share);
  auto const roomy = with_long_decoder(recipe);
  if (roomy.window < tokens.count()) {
    auto const other = unused_share(tokens, roomy);
    if (other < share)
      text += fmt::format("data.target={} leaves {:.3g} %, ", roomy.lengths[1], 100 * other);
  }
  return text + "data.pack=false none";
}

std::string describe_rest(TokenSet const& tokens, Recipe const& recipe, char const* key) {
  auto const successor = recipe.objective == Objective::next ? 1 : 0;
  auto const rest = tokens.count() - windows_of(tokens, recipe) * recipe.window - successor;
  if (rest == 0) return "";
  return fmt::format("{}: the last {} of {} tokens do not fill a sequence and are not read", key,
                     rest, tokens.count());
}

}  // namespace spillway
