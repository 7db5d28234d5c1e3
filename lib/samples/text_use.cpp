#include "samples/text_use.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <vector>

namespace spillway {
namespace {

// Reads where documents begin for about this many tokens at a time.
constexpr std::int64_t kTokensAtOnce = std::int64_t{1} << 20;

// Returns whether any token of windows [first, end) is followed by another one of its document.
bool has_successor(TokenSet const& tokens, Recipe const& recipe, std::int64_t first,
                   std::int64_t end) {
  std::vector<std::int64_t> starts;
  auto const begin = first * recipe.window, behind = end * recipe.window;
  tokens.append_document_starts(begin + 1, behind + 1, starts);
  return std::ssize(starts) < behind - begin;
}

}  // namespace

bool can_predict(SampledText const& text, Recipe const& recipe) {
  auto const& [tokens, windows] = text;
  if (cuts_where_full(recipe)) return windows.count() > 0;
  if (!recipe.pack || recipe.objective == Objective::masked) return true;
  auto const at_once = std::max<std::int64_t>(1, kTokensAtOnce / recipe.window);
  for (std::int64_t first = 0; first < windows.count(); first += at_once)
    if (has_successor(tokens, recipe, first, std::min(windows.count(), first + at_once)))
      return true;
  return false;
}

std::string describe_unused(SampledText const& text, Recipe const& recipe, char const* key) {
  auto const& [tokens, windows] = text;
  auto const successor = recipe.objective == Objective::next ? 1 : 0;
  auto const unused = tokens.count() - windows.used_tokens() - successor;
  if (unused == 0) return "";
  if (cuts_where_full(recipe))
    return fmt::format(
        "{}: {} of {} tokens are documents of one token, which have no span, and "
        "are not used",
        key, unused, tokens.count());
  return fmt::format("{}: the last {} of {} tokens do not fill a sequence and are not read", key,
                     unused, tokens.count());
}

}  // namespace spillway
