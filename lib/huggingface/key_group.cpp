#include "huggingface/key_group.hpp"

#include <fmt/format.h>

#include <optional>

#include "huggingface/activation_words.hpp"
#include "huggingface/key_table.hpp"

namespace spillway {
namespace {

constexpr std::string_view kActivationKey = "model.activation";

std::optional<Activation> said_activation(Json const& value) {
  if (!value.is_string()) return std::nullopt;
  return our_activation(value.get_ref<std::string const&>());
}

void read_activation(KeyRow const& row, Json const& value, ModelKeys& keys) {
  auto const ours = said_activation(value);
  if (!ours) keys.fail(row.theirs, fmt::format("{} {}", shown(value), activation_not_offered()));
  keys.set_word(row.ours, row.theirs, word(*ours));
}

// Returns whether both mean one value: null means false, and activations have several names.
bool means_the_same(Json const& a, Json const& b) {
  if (a == b || (a.is_null() && b == false)) return true;
  auto const activation = said_activation(a);
  return activation && activation == said_activation(b);
}

void read_row(KeyRow const& row, Json const& fallback, Json const& file, ModelKeys& keys) {
  auto const found = file.find(row.theirs);
  auto const& value = found == file.end() ? fallback : *found;
  if (row.ours.empty()) {
    if (!means_the_same(value, fallback))
      keys.fail(row.theirs, fmt::format("{} changes what is computed; only {} is offered",
                                        shown(value), shown(fallback)));
  } else if (value.is_null() && row.null != nullptr) {
    keys.set_or_unset(row.ours, row.theirs, row.null(keys.model()));
  } else if (row.ours == kActivationKey) {
    read_activation(row, value, keys);
  } else {
    keys.set(row.ours, row.theirs, value);
  }
}

Json write_row(KeyRow const& row, Json const& fallback, ModelKeys const& keys) {
  if (row.ours.empty()) return fallback;
  if (row.ours == kActivationKey) return their_activation(keys.model().activation.value());
  return keys.get(row.ours);
}

KeyGroup key_group_of(KeyRow const& row, Json const& fallback) {
  return {
      {row.theirs},
      [&row, fallback](Json const& file, ModelKeys& keys) { read_row(row, fallback, file, keys); },
      [&row, fallback](ModelKeys const& keys) {
        return Json{{row.theirs, write_row(row, fallback, keys)}};
      }};
}

}  // namespace

std::vector<KeyGroup> key_groups_of(Architecture architecture) {
  auto const& [table, column] = key_column(architecture);
  std::vector<KeyGroup> groups;
  for (auto const& row : table.rows)
    if (!row.fallback[column].empty())
      groups.push_back(key_group_of(row, Json::parse(row.fallback[column])));
  using enum Architecture;
  if (architecture == t5) {
    groups.push_back(t5_feed_forward_keys());
    groups.push_back(t5_head_keys());
    groups.push_back(t5_start_keys());
  } else if (architecture != gpt2 && architecture != bert) {
    groups.push_back(rope_keys(architecture));
  }
  if (architecture == qwen2 || architecture == qwen3) groups.push_back(qwen_window_keys());
  if (architecture == ministral) groups.push_back(ministral_window_keys());
  return groups;
}

}  // namespace spillway
