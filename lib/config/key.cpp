#include "config/key.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace spillway {

bool Key::is_of(Family family) const {
  return families.empty() || std::ranges::count(families, family) > 0;
}

bool Key::is_of(Optimizer optimizer) const {
  return optimizers.empty() || std::ranges::count(optimizers, optimizer) > 0;
}

bool Key::is_of(Config const& config) const {
  return is_of(config.model.family) && is_of(config.optim.name);
}

bool Key::is_in(std::string_view group) const {
  return name.starts_with(group) && (name.size() == group.size() || name[group.size()] == '.');
}

namespace {

template <class E>
std::string words_of(std::vector<E> const& choices) {
  std::vector<std::string_view> words;
  for (E const choice : choices) words.push_back(word(choice));
  return fmt::format("{}", fmt::join(words, ", "));
}

}  // namespace

std::string Key::family_words() const {
  return words_of(families);
}

std::string Key::optimizer_words() const {
  return words_of(optimizers);
}

void read_key(Key const& key, Value const& value, Place const& place) {
  bool const unset =
      !key.word.empty() && value.kind == Value::Kind::scalar && value.text == key.word;
  std::visit(
      [&](auto const& field) {
        if constexpr (requires { field.clear(); }) {
          if (unset) return field.clear();
        }
        field.read(value, place);
      },
      key.field);
}

std::string write_key(Key const& key) {
  return std::visit(
      [&](auto const& field) {
        if constexpr (requires { field.has_value(); }) {
          if (!key.word.empty() && !field.has_value()) return std::string(key.word);
        }
        return field.write();
      },
      key.field);
}

bool takes_word(Key const& key, std::string_view word) {
  if (key.word == word) return !word.empty();
  auto const has_none = [](auto const& field) {
    if constexpr (requires { field.has_none; }) return field.has_none;
    return false;
  };
  return word == "none" && std::visit(has_none, key.field);
}

std::string form_of(Key const& key) {
  auto form = std::visit([](auto const& field) { return field.form(); }, key.field);
  if (!key.word.empty()) form.append("; or ").append(key.word);
  return form;
}

}  // namespace spillway
