#include "samples/byte_text.hpp"

#include <fmt/core.h>

#include <charconv>
#include <optional>

#include "base/error.hpp"
#include "io/tokens/byte_tokenizer.hpp"

namespace spillway {
namespace {

constexpr std::string_view kMask = "[MASK]", kSentinel = "<extra_id_", kSentinelEnd = ">";

bool is_byte(std::int64_t token) {
  return token < byte_separator;
}

bool is_sentinel(std::int64_t token, SpecialIds const& ids) {
  return !is_byte(token) && token <= ids.first_sentinel &&
         token > ids.first_sentinel - ids.sentinels && token != ids.pad && token != ids.eos;
}

struct Number {
  std::int64_t value;  // the number of a sentinel
  std::size_t size;    // bytes of text that its digits and kSentinelEnd take together
};
std::optional<Number> sentinel_number(std::string_view text) {
  std::int64_t value = 0;
  auto const* const begin = text.data();
  auto const [end, error] = std::from_chars(begin, begin + text.size(), value);
  auto const digits = static_cast<std::size_t>(end - begin);
  if (error != std::errc{} || value < 0 || !text.substr(digits).starts_with(kSentinelEnd))
    return {};
  return Number{value, digits + kSentinelEnd.size()};
}

struct Word {
  std::int32_t token;
  std::size_t size;  // how many bytes of text the word takes
};

std::optional<Word> sentinel_at(std::string_view text, SpecialIds const& ids) {
  if (!text.starts_with(kSentinel)) return {};
  auto const number = sentinel_number(text.substr(kSentinel.size()));
  if (!number) return {};
  auto const token = ids.first_sentinel - number->value;
  if (!is_sentinel(token, ids))
    throw Error(Status::bad_input,
                fmt::format("--prompt: the model has no sentinel for <extra_id_{}>; its first is "
                            "id {}, and they count down",
                            number->value, ids.first_sentinel));
  return Word{static_cast<std::int32_t>(token), kSentinel.size() + number->size};
}

Word word_at(std::string_view text, Recipe const& recipe) {
  if (recipe.objective == Objective::masked && text.starts_with(kMask))
    return {recipe.ids.mask, kMask.size()};
  if (recipe.objective == Objective::spans) {
    if (auto const word = sentinel_at(text, recipe.ids)) return *word;
  }
  return {static_cast<unsigned char>(text.front()), 1};
}

}  // namespace

std::vector<std::int32_t> tokens_of(std::string_view text, Recipe const& recipe) {
  std::vector<std::int32_t> tokens;
  while (!text.empty()) {
    auto const [token, size] = word_at(text, recipe);
    tokens.push_back(token);
    text.remove_prefix(size);
  }
  if (recipe.objective == Objective::spans && recipe.ids.eos >= 0) tokens.push_back(recipe.ids.eos);
  return tokens;
}

std::string text_of(std::int32_t token, Recipe const& recipe) {
  if (is_byte(token)) return {static_cast<char>(token)};
  if (recipe.objective != Objective::spans || !is_sentinel(token, recipe.ids)) return {};
  return fmt::format("{}{}{}", kSentinel, recipe.ids.first_sentinel - token, kSentinelEnd);
}

}  // namespace spillway
