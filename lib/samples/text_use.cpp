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

// Returns whether any token behind the first one of windows [first, end) is learned, and does not
// begin a document that is kept apart.
bool has_learned(TokenSet const& tokens, Recipe const& recipe, std::int64_t first,
                 std::int64_t end) {
  auto const begin = first * recipe.window + 1, behind = end * recipe.window + 1;
  std::vector<std::uint8_t> learned(static_cast<std::size_t>(behind - begin));
  tokens.read_mask(begin, learned);
  std::vector<std::int64_t> starts;
  if (recipe.pack) tokens.append_document_starts(begin, behind, starts);
  for (auto const start : starts) learned[static_cast<std::size_t>(start - begin)] = 0;
  return std::ranges::count(learned, 1) > 0;
}

}  // namespace

bool can_predict(SampledText const& text, Recipe const& recipe) {
  auto const& [tokens, windows] = text;
  if (cuts_where_full(recipe)) return windows.count() > 0;
  bool const asks_documents = recipe.pack && recipe.objective != Objective::masked;
  if (!asks_documents && !tokens.has_mask()) return true;
  auto const can = tokens.has_mask() ? has_learned : has_successor;
  auto const at_once = std::max<std::int64_t>(1, kTokensAtOnce / recipe.window);
  for (std::int64_t first = 0; first < windows.count(); first += at_once)
    if (can(tokens, recipe, first, std::min(windows.count(), first + at_once))) return true;
  return false;
}

std::string describe_unused(SampledText const& text, Recipe const& recipe, std::string const& key) {
  auto const& [tokens, windows] = text;
  auto const successor = recipe.objective == Objective::next ? 1 : 0;
  auto const parts = static_cast<std::int64_t>(windows.parts());
  auto const unused = tokens.count() - windows.used_tokens() - successor * parts;
  if (unused == 0) return "";
  if (cuts_where_full(recipe))
    return fmt::format(
        "{}: {} of {} tokens are documents of one token, which have no span, and "
        "are not used",
        key, unused, tokens.count());
  if (parts > 1)
    return fmt::format(
        "{}: {} of {} tokens, at the ends of what is mixed, do not fill a sequence and "
        "are not read",
        key, unused, tokens.count());
  return fmt::format("{}: the last {} of {} tokens do not fill a sequence and are not read", key,
                     unused, tokens.count());
}

}  // namespace spillway
