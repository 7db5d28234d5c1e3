#include "config/suggest.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <iterator>
#include <numeric>

namespace spillway {
namespace {

std::string_view last_part(std::string_view name) {
  auto const dot = name.rfind('.');
  return dot == name.npos ? name : name.substr(dot + 1);
}

std::string_view group_of(std::string_view name) {
  auto const dot = name.rfind('.');
  return dot == name.npos ? "" : name.substr(0, dot);
}

// With as many edits as this a text no longer resembles what it was.
int too_many_edits(std::string_view text) {
  return std::min(4, std::max(2, static_cast<int>(text.size()) / 3 + 1));
}

constexpr std::string_view kHyphens = "-_";

// Returns the word without what people write differently.
std::string bare(std::string_view word) {
  std::string result;
  for (char const c : word)
    if (kHyphens.find(c) == kHyphens.npos)
      result += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return result;
}

}  // namespace

int edit_distance(std::string_view a, std::string_view b) {
  std::vector<int> before(b.size() + 1), above(b.size() + 1), row(b.size() + 1);
  std::iota(row.begin(), row.end(), 0);
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::swap(before, above);
    std::swap(above, row);
    row[0] = static_cast<int>(i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      int const replaced = above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, replaced});
      bool const swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
    }
  }
  return row[b.size()];
}

std::string nearest_name(std::string_view wrong, std::vector<std::string> const& names) {
  std::string nearest;
  int fewest = too_many_edits(wrong);
  for (auto const& name : names) {
    // At least as many edits are needed as the lengths of the names differ by. To know this often
    // saves a call of edit_distance.
    auto const apart = std::abs(std::ssize(name) - std::ssize(wrong));
    // A key may be named without its first groups: log.every is run.log.every.
    bool const is_tail = name.ends_with(fmt::format(".{}", wrong));
    bool const same_end = last_part(name) == last_part(wrong);
    int const edits = is_tail           ? 0
                      : same_end        ? 1
                      : apart >= fewest ? fewest
                                        : edit_distance(wrong, name);
    // What is right of the name, its group, does not make the rest alike: optim.foo is not
    // optim.lr.
    bool const is_like =
        group_of(name) != group_of(wrong) || edits < too_many_edits(last_part(wrong));
    if (edits < fewest && is_like) {
      fewest = edits;
      nearest = name;
    }
  }
  return nearest;
}

std::string nearest_word(std::string_view wrong, std::vector<std::string> const& words) {
  auto const same = std::ranges::find(words, bare(wrong), bare);
  if (same != words.end()) return *same;
  auto const near = nearest_name(wrong, words);
  auto const first = wrong.substr(0, wrong.find_first_of(kHyphens));
  return near.empty() && std::ranges::count(words, first) > 0 ? std::string(first) : near;
}

std::string asked(std::string const& name) {
  return fmt::format("did you mean {}?", name);
}

std::string did_you_mean(std::string const& name) {
  return name.empty() ? "" : "; " + asked(name);
}

}  // namespace spillway
